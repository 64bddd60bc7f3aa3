/** The subjects of groups, asked for once in a while and kept up to date by WhatsApp's own news. */
import type { Clock } from "../../base/clock.ts";
import type { WhatsAppSocket } from "./socket.ts";

export interface GroupNames {
  /** Undefined when WhatsApp does not say. */
  subject(socket: WhatsAppSocket, jid: string): Promise<string | undefined>;
  renamed: (jid: string, subject: string) => void;
}

const FRESH_MS = 60 * 60_000;
const MOST_GROUPS = 1000;

export function createGroupNames(clock: Clock): GroupNames {
  const names = new Map<string, { subject: string | undefined; at: number }>();
  const keep = (jid: string, subject: string | undefined): void => {
    names.set(jid, { subject, at: clock.now() });
    const [oldest] = names.keys();
    if (names.size > MOST_GROUPS && oldest !== undefined) names.delete(oldest);
  };
  return {
    subject: async (socket, jid) => {
      const known = names.get(jid);
      if (known !== undefined && Math.abs(clock.now() - known.at) < FRESH_MS) return known.subject;
      const found = await socket.groupMetadata(jid).catch(() => undefined);
      keep(jid, found?.subject ?? known?.subject);
      return names.get(jid)?.subject;
    },
    renamed: keep,
  };
}
