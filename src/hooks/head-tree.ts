/**
 * The head of a `HOOK.md` as a tree: names, lists and what is nested in them. People write it as lines
 * (`events:` with `- command:new` below), as JSON or as JSON5; all of it is read, and no more of YAML.
 */
import { unquoted } from "../base/frontmatter.ts";

type Json5 = (text: string) => unknown;

/** Lists, records and texts; what is written as JSON may hold anything that JSON does. Throws for broken JSON5. */
export async function readHeadTree(lines: readonly string[]): Promise<unknown> {
  const { default: json5 } = await import("json5");
  const said = lines.filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));
  return said.length === 0 ? {} : readBlock(said, (text) => json5.parse(text));
}

const KEY = /^(\s*)([A-Za-z][\w.-]{0,100}):(?:\s+(.*))?$/;
const ITEM = /^\s*-(?:\s+(.*))?$/;

function readBlock(lines: readonly string[], json5: Json5): unknown {
  const [first = ""] = lines;
  if (ITEM.test(first)) return readList(lines, json5);
  if (KEY.test(first)) return readRecord(lines, json5);
  return readValue("", lines, json5);
}

/** A line with a name, as far to the left as the first one, begins a member; the others belong to the one before. */
function readRecord(lines: readonly string[], json5: Json5): unknown {
  const depth = KEY.exec(lines[0] ?? "")?.[1]?.length ?? 0;
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

function readList(lines: readonly string[], json5: Json5): unknown[] {
  return lines.flatMap((line) => {
    const [, item] = ITEM.exec(line) ?? [];
    return item === undefined ? [] : [readValue(item.trim(), [], json5)];
  });
}

function readValue(first: string, below: readonly string[], json5: Json5): unknown {
  const isBlock = /^[|>][+-]?\d?$/.test(first);
  if (first === "" && below.some((line) => ITEM.test(line) || KEY.test(line)) && !/^\s*[{[]/.test(below[0] ?? "")) {
    return readBlock(below, json5);
  }
  const whole = [isBlock ? "" : first, ...below.map((line) => line.trim())].filter((line) => line !== "");
  if (!isBlock && /^[{[]/.test(whole[0] ?? "")) return readFlow(whole.join("\n"), json5);
  return unquoted(whole.join(" "));
}

/** A plain word in a list, which YAML knows and JSON5 does not: `[command:new, command:reset]`. */
const PLAIN_WORD = /(?<=[[,]\s*)[A-Za-z_][\w.:/-]*(?=\s*[,\]])/g;

function readFlow(text: string, json5: Json5): unknown {
  try {
    return json5(text);
  } catch (error) {
    const quoted = text.replace(/\s#.*$/, "").replace(PLAIN_WORD, (word) => JSON.stringify(word));
    if (quoted === text) throw error;
    return json5(quoted);
  }
}
