/** A stand-in for a store that keeps the bytes of transcripts elsewhere: here in memory, shared by several machines. */
import { rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HoldfastError } from "../../src/base/errors.ts";
import type { TranscriptBacking } from "../../src/transcript/appender.ts";

export interface Remote {
  /** By name, with the originals of rewritten transcripts. */
  contents: Map<string, Buffer>;
  /** The epoch of the rightful writer. */
  epoch: number;
}

export interface RemoteTranscript {
  name: string;
  /** The copy on this machine. */
  path: string;
  /** Default: there is no lease. */
  epoch?: number | undefined;
  /** Called after an append to the remote content and before that to the copy. Optional. */
  onAppended?: (() => void) | undefined;
}

export function createRemote(): Remote {
  return { contents: new Map(), epoch: 1 };
}

export function backingIn(remote: Remote, { name, path, epoch, onAppended }: RemoteTranscript): TranscriptBacking {
  const { contents } = remote;
  const check = (isFree: boolean): void => {
    if (epoch !== undefined && epoch < remote.epoch) throw refused("fenced", "lease-lost");
    if (!isFree) throw refused("conflict", "transcript-exists");
  };
  return {
    async refresh() {
      rmSync(path, { force: true });
      for (const [other, content] of contents) {
        if (other === name) writeFileSync(path, content);
        // The parents of a fork, and their originals.
        else writeFileSync(join(dirname(path), other), content);
      }
    },
    async create(content) {
      check(!contents.has(name));
      contents.set(name, Buffer.from(content));
    },
    async append(at, bytes) {
      const content = contents.get(name) ?? Buffer.alloc(0);
      check(content.length === at);
      contents.set(name, Buffer.concat([content, bytes]));
      onAppended?.();
    },
    async replace(file, keptAs) {
      check(true);
      contents.set(keptAs, contents.get(name) ?? Buffer.alloc(0));
      contents.set(name, await readFile(file));
    },
  };
}

function refused(kind: "fenced" | "conflict", code: string): HoldfastError {
  return new HoldfastError(kind, code, "The stand-in refuses this change", { hint: "Open the transcript again." });
}
