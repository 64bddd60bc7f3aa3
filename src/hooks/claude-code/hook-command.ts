/**
 * The command that Claude Code is told to call. Its shell runs it in whatever folder the session works, so all
 * paths are whole and quoted. Whatever becomes of this installation, a session must not suffer: where the program
 * is gone, or on the machine of somebody who shares the file and has no Holdfast, the command still succeeds.
 */
import { programFile } from "../../base/package.ts";

export const CLAUDE_HOOK_EVENTS = ["SessionStart", "PreCompact", "PostCompact", "Stop", "SessionEnd"] as const;
export type ClaudeHookEvent = (typeof CLAUDE_HOOK_EVENTS)[number];

/** One entry of `hooks.<event>[].hooks` in settings.json. */
export interface HookEntry {
  type: "command";
  command: string;
  timeout: number;
}

/** In seconds. Holdfast answers long before; without it Claude Code would wait minutes, or at an end only 1.5 s. */
const TIMEOUT_S = 5;

export interface CommandOptions {
  /** HOLDFAST_HOME, when it is set: Claude Code may be started without it. */
  home?: string | undefined;
}

export function hookEntry(event: ClaudeHookEvent, { home }: CommandOptions): HookEntry {
  const words = [process.execPath, programFile(), "hook", event].map(quoted).join(" ");
  const setting = home === undefined ? "" : `HOLDFAST_HOME=${quoted(home)} `;
  return { type: "command", command: `${setting}${words} || true`, timeout: TIMEOUT_S };
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** As `quoted` writes it, or in double quotes. */
const WORD = String.raw`(?:[\w@%+=:,./~-]|'[^']*'|\\'|"[^"$\x60\\]*")+`;
const OURS = new RegExp(
  String.raw`^(?:HOLDFAST_HOME=${WORD} )?(?:(?<runtime>${WORD}) )?(?<program>${WORD}) hook [A-Z]\w+(?: \|\| true)?$`,
);

/**
 * Whether it is one of ours, also of another version or another place. The whole of it: what somebody has built around
 * such a call is theirs.
 */
export function isOurCommand(command: unknown): boolean {
  const { runtime = "node", program = "" } = (typeof command === "string" && OURS.exec(command)?.groups) || {};
  return /(?:^|[/'"])node[\w.-]*['"]?$/.test(runtime) && /(?:^|[/'"])holdfast(?:\.js)?['"]?$/.test(program);
}
