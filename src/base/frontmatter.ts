/**
 * The front matter of a Markdown file, between two lines `---`. It understands names, lists, quotes, folded lines,
 * comments, JSON and JSON5, but is not YAML. Any other value is text, also broken JSON.
 */
import { type JsonRecord, recordOf } from "./json-record.ts";

/** Undefined if the file has no front matter. */
export async function readFrontmatter(text: string): Promise<JsonRecord | undefined> {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (lines[0]?.trimEnd() !== "---" || end === -1) return undefined;
  const { default: json5 } = await import("json5");
  const said = lines.slice(1, end).filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));
  return readRecord(said, (flow) => json5.parse(flow));
}

type Json5 = (text: string) => unknown;

const KEY = /^(\s*)([A-Za-z][\w.-]{0,100}):(?:\s+(.*))?$/;
const ITEM = /^\s*-(?:\s+(.*))?$/;

/** A named line with the indentation of the first one starts a member; other lines belong to the member before. */
function readRecord(lines: readonly string[], json5: Json5): JsonRecord {
  const depth = lines.map((line) => KEY.exec(line)?.[1]?.length).find((length) => length !== undefined) ?? 0;
  const members = new Map<string, { first: string; below: string[] }>();
  let current: { first: string; below: string[] } | undefined;
  for (const line of lines) {
    const [, indent = "", name, first = ""] = KEY.exec(line) ?? [];
    if (name === undefined || indent.length > depth) {
      current?.below.push(line);
    } else {
      current = { first: first.trim(), below: [] };
      members.set(name, current);
    }
  }
  return Object.fromEntries([...members].map(([name, { first, below }]) => [name, readValue(first, below, json5)]));
}

function readValue(first: string, below: readonly string[], json5: Json5): unknown {
  const [start = ""] = below;
  if (first === "" && ITEM.test(start)) return below.flatMap((line) => readItem(line, json5));
  if (first === "" && KEY.test(start)) return readRecord(below, json5);
  const block = /^([|>])[+-]?\d?$/.exec(first)?.[1];
  const whole = [block === undefined ? first : "", ...below.map((line) => line.trim())].filter((line) => line !== "");
  if (block === "|") return whole.join("\n");
  if (block === undefined && /^[{[]/.test(whole[0] ?? "")) return readFlow(whole.join("\n"), json5);
  return unquoted(whole.join(" "));
}

function readItem(line: string, json5: Json5): unknown[] {
  const item = ITEM.exec(line)?.[1];
  return item === undefined ? [] : [readValue(item.trim(), [], json5)];
}

/** An unquoted word in a list, which is valid in YAML but not in JSON5: `[command:new, command:reset]`. */
const PLAIN_WORD = /(?<=[[,]\s*)[A-Za-z_][\w.:/-]*(?=\s*[,\]])/g;

function readFlow(text: string, json5: Json5): unknown {
  const quoted = text.replace(/\s#.*$/, "").replace(PLAIN_WORD, (word) => JSON.stringify(word));
  for (const attempt of [text, quoted]) {
    try {
      return json5(attempt);
    } catch {
      // Try the next spelling.
    }
  }
  return text;
}

/** A value without its quotes, or without the comment after it. */
function unquoted(value: string): string {
  if (/^".*"$/.test(value)) {
    try {
      const parsed: unknown = JSON.parse(value);
      if (typeof parsed === "string") return parsed;
    } catch {
      // JSON does not know this escape; the raw text is close enough.
    }
    return value.slice(1, -1);
  }
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  return value.replace(/\s#.*$/, "").trim();
}

/** The part of `metadata` for OpenClaw and its kin, also under OpenClaw's earlier names. */
export function openClawPart(metadata: unknown): JsonRecord {
  const { openclaw, moltbot, clawdbot } = recordOf(metadata);
  return recordOf(openclaw ?? moltbot ?? clawdbot);
}
