/** `holdfast sessions export`: a conversation as Markdown, HTML, JSON lines or JSON, secrets redacted. */
import { existsSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import { encodeLine } from "../../base/jsonl.ts";
import { redactText, redactValue } from "../../base/redact.ts";
import { findSessionOrArchived } from "../../session/find-session.ts";
import { entryToJson } from "../../transcript/codec.ts";
import { type TranscriptDamage, findDamage } from "../../transcript/damage.ts";
import { type WholeItem, readWhole } from "../../transcript/fork.ts";
import type { Flags, Texts } from "../command.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import {
  type ShownMessage,
  describeEntry,
  renderMarkdown,
  renderPage,
  reportProblems,
  sayIfArchived,
  writeExport,
} from "../conversation-view.ts";
import { locateTranscript } from "../../session/agent-handle.ts";
import { type TranscriptProblem, addProblem, createProblemList, isLoss } from "../../transcript/scan.ts";
import { isFlushEntry } from "../../transcript/messages.ts";

type Format = "md" | "html" | "jsonl" | "json";

type ExportOptions = AgentOptions & Flags<"json" | "noRedact"> & Texts<"output"> & { format?: Format | undefined };

export async function exportSession(reference: string, options: ExportOptions): Promise<void> {
  const format = options.format ?? (options.json === true ? "json" : "md");
  try {
    await exportChat(reference, format, options);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "not-found" || options.store !== undefined) throw error;
    const { findInstead, exportFound } = await import("./cc/show.ts");
    const found = await findInstead(reference, { agent: options.agent }, error);
    if (format === "json" || options.noRedact === true) throw onlyForChats(format);
    await exportFound(found, { format, output: options.output });
  }
}

function onlyForChats(format: Format): HoldfastError {
  const what = format === "json" ? "--format json" : "--no-redact";
  return new HoldfastError("usage", "only-for-chats", `${what} is not available for Claude Code sessions`, {
    hint: "Use --format jsonl; the transcript itself is named by `holdfast cc info`.",
  });
}

async function exportChat(reference: string, format: Format, options: ExportOptions): Promise<void> {
  await withAgent(options, async (agent) => {
    const found = await findSessionOrArchived(agent, reference);
    sayIfArchived(found);
    const place = await locateTranscript(agent, found);
    const damage = await findDamage(place.path, place.expected);
    const conversation = openConversation(place.path, damage);
    const render = RENDERERS[format](conversation, { key: found.key, redact: options.noRedact !== true });
    await writeExport(render, options.output);
    reportProblems(place.path, conversation);
  });
}

interface Conversation {
  /** Iterate it once; `problems` is complete afterwards. */
  items: AsyncIterable<WholeItem>;
  problems: TranscriptProblem[];
}

/** A fork refers to its parent; the export includes the parent's part. */
function openConversation(path: string, damage: TranscriptDamage | undefined): Conversation {
  const list = createProblemList();
  if (damage !== undefined) addProblem(list, { reason: damage.reason });
  const exists = damage?.kind !== "missing" && damage?.kind !== "not-a-file" && existsSync(path);
  const items = exists ? readWhole(path, (problem) => addProblem(list, problem)) : noItems();
  return { items, problems: list.problems };
}

async function* noItems(): AsyncGenerator<WholeItem> {
  // A session without messages has no transcript.
}

interface RenderOptions {
  key: string;
  redact: boolean;
}

/** Streams: a transcript may be larger than memory or one string. */
type Render = (conversation: Conversation, options: RenderOptions) => AsyncIterable<string>;

const RENDERERS: Record<Format, Render> = {
  md: (conversation, { key, redact }) => renderMarkdown({ title: key, facts: [] }, messagesOf(conversation, redact)),
  html: (conversation, { key, redact }) => renderPage({ title: key, facts: [] }, messagesOf(conversation, redact)),
  jsonl: renderLines,
  json: renderJson,
};

/** For people; the other formats contain every entry unchanged. */
async function* messagesOf({ items, problems }: Conversation, redact: boolean): AsyncGenerator<ShownMessage> {
  for await (const item of items) {
    const spoken = item.kind === "entry" && !isFlushEntry(item.entry) ? describeEntry(item.entry) : undefined;
    if (item.kind === "header" || spoken === undefined) continue;
    const { speaker, text } = spoken;
    yield { speaker, at: Date.parse(item.entry.timestamp), text: redact ? redactText(text) : text };
  }
  for (const { reason } of problems.filter(isLoss)) {
    yield { speaker: "damage", text: `The transcript is damaged: ${reason}.` };
  }
}

async function* renderLines({ items }: Conversation, { redact }: RenderOptions): AsyncGenerator<string> {
  for await (const item of items) {
    const line = item.kind === "header" ? item.header : entryToJson(item.entry);
    yield encodeLine(redact ? redactValue(line) : line);
  }
}

async function* renderJson({ items, problems }: Conversation, { key, redact }: RenderOptions): AsyncGenerator<string> {
  yield `{\n  "key": ${JSON.stringify(key)},\n  "entries": [`;
  let separator = "\n";
  for await (const item of items) {
    if (item.kind === "header") continue;
    const entry = entryToJson(item.entry);
    yield `${separator}    ${JSON.stringify(redact ? redactValue(entry) : entry)}`;
    separator = ",\n";
  }
  yield `\n  ],\n  "complete": ${!problems.some(isLoss)},\n  "problems": ${JSON.stringify(problems)}\n}\n`;
}
