/**
 * Starts a program on a leash: when Holdfast releases the leash or dies in any way, the program and
 * everything that it started are ended with SIGKILL.
 *
 * A watcher, a small shell, waits on a pipe whose other end only this process has. The shell that becomes
 * the program (`exec`) starts the watcher first, so the program never runs unwatched. The watcher belongs
 * to the program's process group: while it lives, the system cannot reuse the group's number.
 *
 * The group is not enough: Claude Code runs each Bash command in a session of its own and leaves it behind
 * after SIGTERM or SIGKILL. So the watcher also ends all descendants of the program and, where /proc shows
 * environments, every process with the program's mark. Only a process that left the tree and also cleared
 * its environment escapes.
 *
 * A shell drops environment variables with a dot or a dash in their name.
 */
import type { Duplex } from "node:stream";
import { nodeChildProcess } from "../../../base/builtin.ts";
import { randomIds } from "../../../base/ids.ts";

export type LeashedProgram = NonNullable<ReturnType<typeof startOnLeash>>;

export interface LeashOptions {
  /** An absolute path. */
  program: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
}

/** Inherited by all child processes. A leashed program that starts another one passes its own mark on. */
const MARK = "HOLDFAST_RUN";
const LEASH = 3;
/** Ending a few processes takes milliseconds; a watcher that takes this long was killed. */
const RELEASE_TIMEOUT_MS = 5000;

/** `sh -c START name watch mark program args…`. The shell's pid becomes that of the program and the group. */
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
 * `sh -c WATCH name group mark`, with the leash as file 3. It kills the program first, so that the program cannot react
 * to the loss of its children, and repeats, because a dying process may have started more.
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

/** Undefined when the program could not be started. */
export function startOnLeash(options: LeashOptions) {
  const mark = randomIds.uuid();
  const child = nodeChildProcess().spawn(
    "/bin/sh",
    ["-c", START, "holdfast", WATCH, mark, options.program, ...options.args],
    {
      cwd: options.cwd,
      env: options.env,
      // A session and a group of its own, so signals from our terminal do not reach it.
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    },
  );
  const { pid, stdin, stdout, stderr } = child;
  const leash = child.stdio[LEASH] as Duplex | null | undefined;
  // The child emits `error` if it could not start; a missing pid tells us the same.
  child.on("error", () => undefined);
  if (pid === undefined || !stdin || !stdout || !stderr || !leash) return undefined;
  return { child, pid, stdin, stdout, stderr, release: createRelease(leash, pid) };
}

/** Returns a function that ends all remaining processes and resolves when they are gone. */
function createRelease(leash: Duplex, group: number): () => Promise<void> {
  // The watcher's end of the pipe closes when the watcher exits, after its work is done.
  const watcherGone = new Promise<void>((resolve) => void leash.once("close", resolve));
  leash.on("error", () => undefined);
  leash.resume();
  let released: Promise<void> | undefined;
  const release = async (): Promise<void> => {
    // The watcher was killed, so only the group can be reached.
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
    // The group is already gone.
  }
}
