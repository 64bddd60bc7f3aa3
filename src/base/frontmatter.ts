/**
 * The front matter of a Markdown file, between two lines `---`: names and texts. It understands quotes, folded lines
 * and comments, but is not YAML. Anything else stays as it is.
 */

/** Undefined if the file has no front matter. */
export function readFrontmatter(text: string): ReadonlyMap<string, string> | undefined {
  const lines = frontmatterLines(text);
  if (lines === undefined) return undefined;
  const members = new Map<string, string>();
  for (const { name, first, below } of membersOf(lines)) members.set(name, valueOf(first, below));
  return members;
}

export function frontmatterLines(text: string): string[] | undefined {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  return end === -1 ? undefined : lines.slice(1, end);
}

interface Member {
  name: string;
  first: string;
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
      // JSON does not know this escape; the raw text is close enough.
    }
    return value.slice(1, -1);
  }
  if (/^'.*'$/.test(value)) return value.slice(1, -1).replaceAll("''", "'");
  return value.replace(/\s#.*$/, "").trim();
}
