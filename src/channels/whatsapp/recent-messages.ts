/** The last messages of the account, in memory: to quote them, and to send one again that a phone could not read. */
import type { WAMessage } from "baileys";

export interface RecentMessages {
  add(message: WAMessage): void;
  get(id: string): WAMessage | undefined;
}

export function createRecentMessages(limit = 500): RecentMessages {
  const messages = new Map<string, WAMessage>();
  return {
    add: (message) => {
      const { id } = message.key;
      if (id === undefined || id === null) return;
      messages.delete(id);
      messages.set(id, message);
      const [oldest] = messages.keys();
      if (messages.size > limit && oldest !== undefined) messages.delete(oldest);
    },
    get: (id) => messages.get(id),
  };
}
