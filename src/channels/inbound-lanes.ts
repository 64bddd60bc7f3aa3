/** What comes in, chat by chat: one task of a chat at a time, in order, and whoever stops can wait for the rest. */
import { createKeyedMutex } from "../base/mutex.ts";

export interface InboundLanes {
  run(chat: string, task: () => Promise<void>, onFailure: (error: unknown) => void): void;
  /** Resolves when nothing is under way. */
  idle: () => Promise<void>;
}

export function createInboundLanes(): InboundLanes {
  const lanes = createKeyedMutex();
  const underWay = new Set<Promise<void>>();
  return {
    run: (chat, task, onFailure) => {
      const running = lanes.run(chat, task).catch(onFailure);
      underWay.add(running);
      void running.then(() => underWay.delete(running));
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
