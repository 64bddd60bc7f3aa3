/**
 * Finds fenced code in a text. Unlike in CommonMark, a fence may have any indent, because agents indent
 * fences in lists.
 */

export interface Fence {
  /** First character of the opening line. */
  start: number;
  /** First character after the opening line, or the end of the text. */
  contentStart: number;
  /** First character of the closing line; the end of the text if the fence is not closed. */
  closeStart: number;
  /** End of the closing line, before its line break. */
  end: number;
  indent: string;
  /** The backticks or tildes. */
  marker: string;
  /** The text after the marker, such as the language. */
  info: string;
}

const OPENING = /^([ \t]*)(`{3,}|~{3,})(.*)$/;

export function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: Fence | undefined;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (open === undefined) {
      open = readOpening(text, start, end);
    } else if (closes(text.slice(start, end), open)) {
      fences.push({ ...open, closeStart: start, end });
      open = undefined;
    }
    start = end + 1;
  }
  return open === undefined ? fences : [...fences, open];
}

/** The fence around the position. Its opening and closing lines count as inside. */
export function fenceAround(fences: readonly Fence[], position: number): Fence | undefined {
  const found = fences[countEnded(fences, position)];
  return found !== undefined && found.start < position ? found : undefined;
}

/** The last fence that ends at or before the position. */
export function fenceBefore(fences: readonly Fence[], position: number): Fence | undefined {
  return fences[countEnded(fences, position) - 1];
}

function countEnded(fences: readonly Fence[], position: number): number {
  let low = 0;
  let high = fences.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((fences[middle]?.end ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readOpening(text: string, start: number, end: number): Fence | undefined {
  const found = OPENING.exec(text.slice(start, end).trimEnd());
  if (found === null) return undefined;
  const [, indent = "", marker = "", info = ""] = found;
  if (marker.startsWith("`") && info.includes("`")) return undefined;
  const contentStart = Math.min(end + 1, text.length);
  return { start, contentStart, closeStart: text.length, end: text.length, indent, marker, info: info.trim() };
}

function closes(line: string, open: Fence): boolean {
  const bare = line.trim();
  if (bare.length < open.marker.length || bare !== open.marker.charAt(0).repeat(bare.length)) return false;
  return line.length - line.trimStart().length <= open.indent.length + 3;
}
