/**
 * The head of a Markdown file between two lines `---`: names with a text each. It reads what people
 * write there (quotes, folded lines, comments) and is no YAML: what it does not understand it leaves as it is.
 */

/** Undefined when the file does not begin with one. */
export function readFrontmatter(text: string): ReadonlyMap<string, string> | undefined {
  const lines = frontmatterLines(text);
  if (lines === undefined) return undefined;
  const members = new Map<string, string>();
  for (const { name, first, below } of membersOf(lines)) members.set(name, valueOf(first, below));
  return members;
}

/** Its lines as they are, for whoever has to understand more of them. */
export function frontmatterLines(text: string): string[] | undefined {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  return end === -1 ? undefined : lines.slice(1, end);
}

interface Member {
  name: string;
  first: string;
  /** The lines that are indented below it. */
  below: string[];
}

function membersOf(lines: readonly string[]): Member[] {
  const members: Member[] = [];
  for (const line of lines) {
    const [, name, first = ""] = /^([A-Za-z][\w.-]{0,100}):(?:\s+(.*))?$/.exec(line) ?? [];
    if (name !== undefined) members.push({ name, first: first.trim(), below: [] });
    else if (/^(?:\s|$|[}\]])/.test(line)) members.at(-1)?.below.push(line);
  }
  return members;
}

function valueOf(first: string, below: readonly string[]): string {
  const block = /^([|>])[+-]?\d?$/.exec(first)?.[1];
  const lines = below.map((line) => line.trim());
  if (block === "|") return lines.join("\n").trim();
  const joined = [block === undefined ? first : "", ...lines].filter((line) => line !== "").join(" ");
  return unquoted(joined);
}

/** A value without its quotes, or without the comment after it. */
export function unquoted(value: string): string {
  if (/^".*"$/.test(value)) {
    try {
      const parsed: unknown = JSON.parse(value);
      if (typeof parsed === "string") return parsed;
    } catch {
      // An escape that JSON does not know: the text between the quotes is near enough.
    }
    return value.slice(1, -1);
  }
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  return value.replace(/\s#.*$/, "").trim();
}
