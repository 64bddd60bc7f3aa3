/** Shortening a transcript by hand: what is removed goes to an archive beside it. */
import { fileExists } from "../base/files.ts";
import { compactTranscript } from "../transcript/compact.ts";
import { type AgentHandle, transcriptPath } from "./agent-handle.ts";
import { withSessionLease } from "./lease.ts";
import { incrementCompactionCount } from "./usage.ts";
import { sessionNotFound } from "./window.ts";

export interface CompactionResult {
  key: string;
  compacted: boolean;
  /** The file that has the whole transcript as it was. */
  archived?: string;
  kept: number;
}

const DEFAULT_MAX_LINES = 400;

export interface CompactionOptions {
  maxLines?: number | undefined;
  waitMs?: number;
  /** Called with the session's key, to do what has to be done before and after. Left out: nothing. */
  around?: (<T>(key: string, shorten: () => Promise<T>) => Promise<T>) | undefined;
}

export async function compactSession(
  agent: AgentHandle,
  key: string,
  options: CompactionOptions = {},
): Promise<CompactionResult> {
  const { around = async (_key, shorten) => await shorten() } = options;
  return await withSessionLease(
    agent,
    key,
    options.waitMs === undefined ? {} : { waitMs: options.waitMs },
    async (held) => {
      const entry = await agent.store.get(key);
      if (entry === undefined) throw sessionNotFound(key);
      const path = transcriptPath(agent, entry);
      if (!(await fileExists(path))) return { key, compacted: false, kept: 0 };

      const maxEntries = options.maxLines ?? DEFAULT_MAX_LINES;
      const { compacted, archived, kept } = await around(key, async () => {
        return await compactTranscript(path, { maxEntries, clock: agent.clock, fence: () => held.fence() });
      });
      if (compacted) await incrementCompactionCount({ agent, sessionKey: key, lease: held.lease });
      return { key, compacted, ...(archived === undefined ? {} : { archived }), kept };
    },
  );
}
