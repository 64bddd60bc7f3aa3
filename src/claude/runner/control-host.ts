/** Keeps the control socket of this process open exactly while there is a run that could be asked for. */
import { type ControlHandler, type ControlServer, startControlServer } from "./control-server.ts";

export interface ControlHost {
  /** The path of the socket. */
  join(runId: string): Promise<string>;
  leave(runId: string): Promise<void>;
}

export function createControlHost(folder: string, handle: ControlHandler): ControlHost {
  const joined = new Set<string>();
  let server: Promise<ControlServer> | undefined;
  return {
    async join(runId) {
      joined.add(runId);
      server ??= startControlServer(folder, handle);
      try {
        return (await server).path;
      } catch (error) {
        server = undefined;
        throw error;
      }
    },
    async leave(runId) {
      joined.delete(runId);
      if (joined.size > 0 || server === undefined) return;
      const closing = server;
      server = undefined;
      await (await closing.catch(() => undefined))?.close();
    },
  };
}
