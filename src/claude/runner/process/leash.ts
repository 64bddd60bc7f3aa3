/**
 * Starts a program on a leash: when the leash is let go, by us or by our death of whatever kind, the
 * program and everything that it has started are ended with SIGKILL.
 *
 * A watcher, a small shell, waits on a pipe whose other end only this process has. It is started before
 * the program, by the very shell that then becomes the program (`exec`), so there is no instant at which
 * the program runs unwatched. It is a member of the program's process group, and as long as it lives the
 * system cannot give the group's number to anybody else: it never hits a stranger.
 *
 * The group is not enough: Claude Code runs each command of its Bash tool in a session of its own, and
 * leaves them behind when it is ended by SIGTERM or SIGKILL. So everything below the program in the tree
 * of processes is ended too, and (where /proc shows environments) everything that inherited its mark.
 * Beyond reach is only what left the tree and cleaned its environment.
 *
 * A shell passes on only such variables as it could have itself: those with a dot or a dash in their
 * name do not reach the program.
 */
import type { ChildProcess } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";
import { nodeChildProcess } from "../../../base/builtin.ts";
import { randomIds } from "../../../base/ids.ts";

export interface LeashedProgram {
  child: ChildProcess;
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Ends whatever is left. Resolves when it is gone. */
  release(): Promise<void>;
}

export interface LeashOptions {
  /** An absolute path. */
  program: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
}

/** Inherited by everything that the program starts. A program started by one on a leash carries both marks. */
const MARK = "HOLDFAST_RUN";
const LEASH = 3;
/** Ending a few processes takes milliseconds; a watcher that takes so long was ended by somebody. */
const RELEASE_TIMEOUT_MS = 5000;

/** `sh -c START name watch mark program args…`; the shell's own pid is the program's and the group's. */
const START = `
watch=$1 mark=$2; shift 2
trap '' HUP INT QUIT TERM
/bin/sh -c "$watch" holdfast-leash "$$" "$mark" </dev/null >/dev/null 2>&1 &
trap - HUP INT QUIT TERM
${MARK}="\${${MARK}:+$${MARK},}$mark"
export ${MARK}
exec "$@" 3<&-
`;

/**
 * `sh -c WATCH name group mark`, the leash being file 3. The program goes first, so that it does not
 * react to the loss of the others; rounds, because who is ended last can have started more.
 */
const WATCH = `
group=$1 mark=$2
read -r _ <&3
below() {
  ps -A -o pid= -o ppid= | awk -v root="$group" -v self="$$" '
    { parent[$1] = $2 }
    END {
      for (pid in parent) {
        at = pid; steps = 0
        while (at != root && at != self && (at in parent) && steps++ < 100) at = parent[at]
        if (at == root && pid != root) print pid
      }
    }'
}
marked() {
  for file in $(grep -lsF "$mark" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    echo "\${pid%/environ}"
  done
}
round=0
while [ "$round" -lt 20 ]; do
  found=$(below; marked)
  if [ -z "$found" ]; then break; fi
  kill -KILL "$group" $found
  round=$((round + 1))
done
kill -KILL -- "-$group"
`;

export function startOnLeash(options: LeashOptions): LeashedProgram | undefined {
  const mark = randomIds.uuid();
  const child = nodeChildProcess().spawn(
    "/bin/sh",
    ["-c", START, "holdfast", WATCH, mark, options.program, ...options.args],
    {
      cwd: options.cwd,
      env: options.env,
      // A session and a group of its own: signals of our terminal are not for it.
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    },
  );
  const { pid, stdin, stdout, stderr } = child;
  const leash = child.stdio[LEASH] as Duplex | null | undefined;
  // Without a pid the start has failed; the caller hears of it through the child's `error`.
  child.on("error", () => undefined);
  if (
    pid === undefined ||
    stdin === null ||
    stdout === null ||
    stderr === null ||
    leash === undefined ||
    leash === null
  ) {
    return undefined;
  }
  return { child, pid, stdin, stdout, stderr, release: createRelease(leash, pid) };
}

function createRelease(leash: Duplex, group: number): () => Promise<void> {
  // The watcher's end closes when it is gone, which is the last thing it does.
  const watcherGone = new Promise<void>((resolve) => void leash.once("close", resolve));
  leash.on("error", () => undefined);
  leash.resume();
  let released: Promise<void> | undefined;
  const release = async (): Promise<void> => {
    // Somebody has ended the watcher: the group is then all that can be reached.
    if (leash.destroyed) killGroup(group);
    leash.end();
    const timer = setTimeout(() => {
      killGroup(group);
      leash.destroy();
    }, RELEASE_TIMEOUT_MS);
    await watcherGone;
    clearTimeout(timer);
  };
  return async () => await (released ??= release());
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}
