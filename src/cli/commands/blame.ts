/** `holdfast blame`: the sessions that changed a file or one of its lines, newest first, with their prompts. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { shortId } from "../../base/ids.ts";
import { silentLogger } from "../../base/log.ts";
import { printableLine } from "../../base/text.ts";
import { type NativeCall, readNativeMessages } from "../../claude/native/read-messages.ts";
import { openPersonSearch } from "../../compose/search.ts";
import type { FileEdit } from "../../memory/blame.ts";
import { loadSetup } from "../context.ts";
import { formatAge, plural, printHanging, printHeading, printJson, printStyled, style } from "../output.ts";
import { progressLine, shortPath } from "./cc/claude-side.ts";
import type { Counts, Flags } from "../command.ts";

type BlameOptions = Flags<"json"> & Counts<"limit">;

const DEFAULT_LIMIT = 10;
const PROMPT_LENGTH = 200;

export async function blame(place: string, options: BlameOptions): Promise<void> {
  const { file, line } = parsePlace(place);
  const names = namesOf(file);
  const setup = await loadSetup();
  const search = await openPersonSearch({ ...setup, logger: silentLogger });
  let edits: FileEdit[];
  try {
    using progress = progressLine();
    await search.refresh(progress.refresh);
    edits = search.index.edits(names);
  } finally {
    search.close();
  }
  const text = line === undefined ? undefined : lineOf(file, line);
  const sessions = groupBySession(text === undefined ? edits : await editsOfLine(edits, names, text));
  const shown = sessions.slice(0, options.limit ?? DEFAULT_LIMIT);
  if (options.json === true) printJson({ schema: 1, file, line, total: sessions.length, sessions: shown });
  else printBlame({ file, line, total: sessions.length }, shown);
}

/** `src/a.ts:12`; a file whose own name ends like that wins. */
function parsePlace(place: string): { file: string; line?: number | undefined } {
  const match = /^(.+):(\d+)$/.exec(place);
  if (match === null || statSync(place, { throwIfNoEntry: false }) !== undefined) return { file: resolve(place) };
  return { file: resolve(match[1] ?? place), line: Number(match[2]) };
}

function namesOf(file: string): string[] {
  try {
    return [...new Set([file, realpathSync(file)])];
  } catch {
    // Sessions may have changed a file that is gone.
    return [file];
  }
}

function lineOf(file: string, line: number): string {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  const text = isFile ? readFileSync(file, "utf8").split("\n")[line - 1]?.trim() : undefined;
  if (text !== undefined && text !== "") return text;
  const problem = text === "" ? `Line ${line} of ${file} is empty` : `${file} has no line ${line}`;
  throw new HoldfastError("not-found", "no-such-line", problem, { hint: "Leave out the line to see all changes." });
}

/** Only the sessions whose edits brought this line in. */
async function editsOfLine(edits: readonly FileEdit[], names: readonly string[], text: string): Promise<FileEdit[]> {
  const found: FileEdit[] = [];
  for (const [path, group] of Map.groupBy(
    edits.filter(({ kind }) => kind === "native"),
    (edit) => edit.path,
  )) {
    const times: number[] = [];
    for await (const { at, calls } of readNativeMessages(path)) {
      if (calls.some((call) => addsLine(call, names, text))) times.push(at ?? 0);
    }
    // An edit belongs to the last prompt before it; its time is that of the last change after the prompt.
    for (const time of times) {
      const edit = group.toReversed().find((one) => (one.at ?? 0) >= time);
      if (edit !== undefined && !found.includes(edit)) found.push(edit);
    }
  }
  return found.sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
}

function addsLine({ input }: NativeCall, names: readonly string[], text: string): boolean {
  if (!names.includes(String(input["file_path"] ?? input["notebook_path"]))) return false;
  const parts = Array.isArray(input["edits"]) ? (input["edits"] as NativeCall["input"][]) : [input];
  return parts.some((part) => {
    const added = [part["new_string"], part["content"], part["new_source"]].find((value) => typeof value === "string");
    const before = typeof part["old_string"] === "string" ? part["old_string"] : "";
    return (
      typeof added === "string" &&
      [text, ...pieces(added, text)].some((piece) => added.includes(piece) && !before.includes(piece))
    );
  });
}

/** The first and the last line of a replacement may be only a part of their line. Half of the line is enough. */
function pieces(added: string, line: string): string[] {
  const lines = added.split("\n");
  return [lines[0], lines.at(-1)]
    .map((piece = "") => piece.trim())
    .filter((piece) => piece.length * 2 >= line.length && line.includes(piece));
}

type BlamedSession = ReturnType<typeof groupBySession>[number];

function groupBySession(edits: readonly FileEdit[]) {
  const groups = Map.groupBy(edits, ({ kind, agentId, sessionId }) => JSON.stringify([kind, agentId, sessionId]));
  return [...groups.values()].flatMap((group) => {
    const [newest] = group;
    if (newest === undefined) return [];
    const { sessionId, kind, title, agentId, folder, branch, at } = newest;
    const show = kind === "native" ? ["cc", "show", sessionId] : ["history", sessionId, "--agent", agentId ?? ""];
    const prompts = group.flatMap(({ prompt, at: changedAt, entryId }) =>
      prompt === undefined ? [] : [{ text: prompt.slice(0, PROMPT_LENGTH), at: isoDate(changedAt), entryId }],
    );
    const place = kind === "native" ? ("claude" as const) : ("chats" as const);
    return [{ sessionId, in: place, title, agentId, repo: folder, branch, at: isoDate(at), prompts, open: { show } }];
  });
}

function isoDate(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

function printBlame(
  { file, line, total }: { file: string; line?: number | undefined; total: number },
  sessions: readonly BlamedSession[],
): void {
  const what = `${shortPath(file)}${line === undefined ? "" : `:${line}`}`;
  if (total === 0) {
    printStyled(`No session on this machine changed ${printableLine(what)} with an editing tool.`);
    printStyled(style("dim", "Changes by commands and by hand are not known; `git log` shows commits."));
    return;
  }
  for (const { title, prompts, at, agentId, repo, branch, open, sessionId } of sessions) {
    const age = at === undefined ? undefined : formatAge(Math.max(0, Date.now() - Date.parse(at)));
    const facts = [agentId === undefined ? undefined : `agent ${agentId}`, age, repo && shortPath(repo), branch];
    printHeading(title ?? prompts.at(-1)?.text ?? "(no title)", facts);
    for (const prompt of prompts) printHanging("  you: ", printableLine(prompt.text), { head: "dim" });
    const words = open.show.map((word) => (word === sessionId && open.show[0] === "cc" ? shortId(word) : word));
    printStyled(style("cyan", `  holdfast ${words.join(" ")}`));
    printStyled("");
  }
  if (total > sessions.length)
    printStyled(style("dim", `${plural(total - sessions.length, "more session")}; see --limit.`));
}
