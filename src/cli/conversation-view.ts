/** How commands show conversations: entries in the terminal, damage, and exports as HTML or to a file. */
import { localTime } from "../base/clock.ts";
import { rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileError, ERROR_KINDS } from "../base/errors.ts";
import { replaceFile, sweepFolder, temporaryPath } from "../base/files.ts";
import { writeNewFile } from "../transcript/rewrite.ts";
import { talk, style } from "./output.ts";
import type { MessageEntry, TranscriptEntry } from "../transcript/entries.ts";
import { printable } from "../base/text.ts";
import { type TranscriptProblem, isLoss } from "../transcript/scan.ts";
import { droppedText, isFlushEntry, saidText } from "../transcript/messages.ts";
import type { FoundSession } from "../session/agent-handle.ts";

export interface ShownMessage {
  /** `you`, `agent`, `Claude`, `tool` (folded in a page), `damage`, or another part of the record. */
  speaker: string;
  /** In ms. */
  at?: number | undefined;
  text: string;
  /** Shown folded in a page. */
  details?: { title: string; text: string }[] | undefined;
}

/** The title is one line. */
export interface ConversationHead {
  title: string;
  facts: readonly string[];
}

export async function* renderMarkdown(
  { title, facts }: ConversationHead,
  messages: AsyncIterable<ShownMessage>,
): AsyncGenerator<string> {
  yield `# ${title}\n${facts.length === 0 ? "" : `\n${facts.join(" · ")}\n`}`;
  for await (const { speaker, at, text } of messages) {
    const time = at === undefined ? "" : ` · ${localTime(at)}`;
    yield speaker === "damage" ? `\n> ${text}\n` : `\n## ${speaker}${time}\n\n${text}\n`;
  }
}

const TONES: Readonly<Record<string, string>> = { you: "person", agent: "agent", Claude: "agent" };

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --dim: #777; --person: #0a66c2; --agent: #2a7a3b; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } header p, .other, time { color: var(--dim); } header p { margin: 0; }
article { border-top: 1px solid var(--line); padding: 0.75rem 0; }
h2 { font-size: 0.9rem; margin: 0 0 0.25rem; } .person h2 { color: var(--person); } .agent h2 { color: var(--agent); }
time { font-weight: normal; margin-left: 0.5rem; }
p { white-space: pre-wrap; margin: 0.25rem 0; }
pre { overflow-x: auto; padding: 0.6rem; border: 1px solid var(--line); border-radius: 4px; font-size: 0.85rem; white-space: pre-wrap; }
summary { cursor: pointer; color: var(--dim); font-size: 0.85rem; }
@media (prefers-color-scheme: dark) { :root { --person: #6cb2ff; --agent: #7fd18f; --dim: #999; } }
`;

/** One HTML file: no scripts, no external resources, readable in light and dark and on paper. */
export async function* renderPage(
  head: ConversationHead,
  messages: AsyncIterable<ShownMessage>,
): AsyncGenerator<string> {
  yield `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(head.title)}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<header>
<h1>${escapeHtml(head.title)}</h1>\n${head.facts.map((fact) => `<p>${escapeHtml(fact)}</p>`).join("\n")}\n</header>\n<main>\n`;
  for await (const message of messages) yield renderMessage(message);
  yield "</main>\n</body>\n</html>\n";
}

function renderMessage({ speaker, at, text, details = [] }: ShownMessage): string {
  const time = at === undefined ? "" : `<time datetime="${new Date(at).toISOString()}">${localTime(at)}</time>`;
  const isTool = speaker === "tool";
  const folded = [...details, ...(isTool ? [{ title: "output", text }] : [])].map(
    (part) => `<details><summary>${escapeHtml(part.title)}</summary><pre>${escapeHtml(part.text)}</pre></details>\n`,
  );
  const body = isTool ? "" : renderText(text);
  const head = `<article class="${TONES[speaker] ?? "other"}">\n<h2>${escapeHtml(speaker)}${time}</h2>`;
  return `${head}\n${body}${folded.join("")}</article>\n`;
}

const FENCED = /^```[^\n]*\n([\s\S]*?)(?:^```[ \t]*$|$(?![\s\S]))/gm;

/** Code blocks as such, everything else as it was written. */
function renderText(text: string): string {
  let html = "";
  let at = 0;
  for (const match of text.matchAll(FENCED)) {
    html += `${plain(text.slice(at, match.index))}<pre><code>${escapeHtml(match[1] ?? "")}</code></pre>\n`;
    at = match.index + match[0].length;
  }
  return html + plain(text.slice(at));
}

function plain(text: string): string {
  return text.trim() === "" ? "" : `<p>${escapeHtml(text.trim())}</p>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Control characters that could change the direction of text or hide it are made visible. */
function escapeHtml(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "")
    .replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this replaces
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** To stdout, or to a file that is replaced only when all of it was written. */
export async function writeExport(pieces: AsyncIterable<string>, output: string | undefined): Promise<void> {
  if (output === undefined) {
    await pipeline(pieces, process.stdout, { end: false });
    return;
  }
  const target = resolve(output);
  await sweepFolder(dirname(target), basename(target));
  const temporary = temporaryPath(target);
  try {
    await writeNewFile(temporary, async (write) => {
      for await (const piece of pieces) await write(piece);
    });
    await replaceFile(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(error, "write", target);
  }
  talk(`Written to ${output}`);
}

const SPEAKERS: Record<string, string> = { user: "you", assistant: "agent", toolResult: "tool" };
const TIME_WIDTH = "2026-01-01 00:00:00".length;
const MARGIN = " ".repeat(TIME_WIDTH + "  speaker  ".length);

/** Undefined for bookkeeping entries. */
export function renderEntry(entry: TranscriptEntry): string | undefined {
  const spoken = describeEntry(entry);
  return spoken && messageLines({ ...spoken, at: Date.parse(entry.timestamp) });
}

/** One or more coloured lines. */
export function messageLines({ speaker, at, text }: ShownMessage): string {
  const time = style("dim", at === undefined ? " ".repeat(TIME_WIDTH) : localTime(at));
  const [first = "", ...rest] = printable(text).split("\n");
  const name = style(speaker === "you" ? "cyan" : "green", speaker.padEnd(7));
  return [`${time}  ${name}  ${first}`, ...rest.map((line) => `${MARGIN}${line}`)].join("\n");
}

export function describeEntry(entry: TranscriptEntry): { speaker: string; text: string } | undefined {
  switch (entry.type) {
    case "message":
      return { speaker: speakerOf(entry), text: textOf(entry) };
    case "custom_message":
      // Entries without `display` are for the engine only.
      if (!entry.display) return undefined;
      return {
        speaker: "note",
        text: typeof entry.content === "string" ? entry.content : JSON.stringify(entry.content),
      };
    case "custom": {
      const dropped = droppedText(entry);
      return dropped === undefined ? undefined : { speaker: "you", text: dropped };
    }
    case "compaction":
      return { speaker: "summary", text: entry.summary };
    case "branch_summary":
      return { speaker: "branch", text: entry.summary };
    case "model_change":
      return { speaker: "model", text: `${entry.provider}/${entry.modelId}` };
    default:
      return undefined;
  }
}

/** Memory turns have no human speaker. */
function speakerOf(entry: MessageEntry): string {
  return isFlushEntry(entry) ? "memory" : (SPEAKERS[entry.message.role] ?? entry.message.role);
}

/** Includes tool calls and failures, so that no answer is shown empty. */
function textOf(entry: MessageEntry): string {
  const { message } = entry;
  const text = saidText(entry);
  if (message.role !== "assistant") return text;
  const calls =
    typeof message.content === "string"
      ? []
      : message.content.flatMap((block) => (block.type === "toolCall" ? [`(calls ${block.name})`] : []));
  const failure = message.stopReason === "error" ? [`(failed: ${message.errorMessage ?? "unknown reason"})`] : [];
  return [...(text === "" ? [] : [text]), ...calls, ...failure].join("\n");
}

/** Goes to stderr: stdout may be JSON. */
export function sayIfArchived({ key, archive }: FoundSession): void {
  if (archive !== undefined) talk(`${key} is archived; \`holdfast sessions restore ${archive}\` brings it back`);
}

/** Prints the problems of a transcript on stderr. If something is lost, the exit code is 5. */
export function reportProblems(path: string, { problems }: { problems: readonly TranscriptProblem[] }): void {
  for (const { line, offset, file, reason } of problems) {
    const place = line === undefined ? (offset === undefined ? "" : ` at byte ${offset}`) : ` line ${line}`;
    talk(`holdfast: ${file ?? path}${place}: ${reason}`);
  }
  if (!problems.some(isLoss)) return;
  talk("  The transcript is damaged; only the readable part is shown. Run `holdfast doctor --deep` for details.");
  process.exitCode = ERROR_KINDS.degraded.exitCode;
}
