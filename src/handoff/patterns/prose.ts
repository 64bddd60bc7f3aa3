/**
 * The lines of a message that its author wrote. Code blocks, quoted lines and pasted evidence (logs, stack traces,
 * command output, diffs, tables, data) are omitted: "ERROR" in a log does not report a blocker.
 */

export interface ProseLine {
  text: string;
  kind: "text" | "item" | "heading";
  /** A ticked or open check box in front of an item. */
  checked: boolean | undefined;
  /** Code or evidence follows ("the build fails with:"). */
  introducesEvidence: boolean;
  /** A blank or omitted line comes before it. */
  startsBlock: boolean;
}

const FENCE = /^\s*(?:```|~~~)/;
const QUOTE = /^\s*>/;
const HEADING = /^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]{1,80})\*\*:?|__([^_]{1,80})__:?)\s*$/;
const ITEM = /^\s*(?:[-*+•‣–]|\d{1,3}[.)]|[a-z]\))\s+(.*)$/;
const CHECK_BOX = /^\[([ xX✓])\]\s*(.*)$/;

export function readProse(text: string): ProseLine[] {
  const lines: ProseLine[] = [];
  let fence = false;
  let diff = false;
  let startsBlock = true;
  const omit = (isEvidence: boolean) => {
    const last = lines.at(-1);
    if (isEvidence && last !== undefined) last.introducesEvidence = true;
    startsBlock = true;
  };
  for (const raw of text.split(/\r\n?|\n/)) {
    if (FENCE.test(raw)) {
      // A fence may open and close on one line.
      fence = !fence && !/^\s*```.+```\s*$/.test(raw);
      omit(true);
      continue;
    }
    diff = startsDiff(raw) || (diff && isDiffLine(raw));
    if (fence || diff || isEvidenceLine(raw)) omit(true);
    else if (QUOTE.test(raw) || raw.trim() === "") omit(false);
    else {
      lines.push(readLine(raw, startsBlock));
      startsBlock = false;
    }
  }
  return lines;
}

function readLine(raw: string, startsBlock: boolean): ProseLine {
  const lineOf = (kind: ProseLine["kind"], text: string, checked?: boolean): ProseLine => {
    return { text, kind, checked, introducesEvidence: false, startsBlock };
  };
  const heading = HEADING.exec(raw);
  if (heading !== null) return lineOf("heading", heading[1] ?? heading[2] ?? heading[3] ?? "");
  const item = ITEM.exec(raw)?.[1];
  if (item === undefined) return lineOf("text", raw.trim());
  const box = CHECK_BOX.exec(item);
  return box === null ? lineOf("item", item.trim()) : lineOf("item", box[2] ?? "", box[1] !== " ");
}

const KINDS: readonly RegExp[] = [
  // Time stamps and log levels in front.
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*\[?\d\d:\d\d:\d\d[\].,\s]/,
  /^\s*\w{3} +\d{1,2} \d\d:\d\d:\d\d /,
  /^\s*[[(<]?(?:ERROR|ERR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL|NOTICE)[\])>]?[:\s|-]/,
  /^\s*(?:npm|yarn|pnpm) (?:ERR!|WARN|error\b)/,
  // Stack traces.
  /^\s+at .{1,300}[:(<]/,
  /^\s*Traceback \(most recent call last\)/,
  /^\s*File "[^"]{1,300}", line \d+/,
  /^\s*(?:Caused by|Exception in thread|Uncaught|Unhandled)\b.*[:(]/,
  /^\s*(?:[A-Za-z_$][\w$]*\.)*[A-Z]\w{0,60}(?:Error|Exception|Warning|Fault|Panic)\b(?:\s\[\w+\])?:/,
  /^\s*(?:panicked|panic:|goroutine \d+|thread '.*' panicked|note: run with)/,
  /^\s*\.\.\. \d+ more/,
  /^\s*\^[\s~^-]*$/,
  // Compilers and test runners.
  /^\s*(?:error|warning|fatal)(?: TS\d+| ?\[[\w-]+\])?: /,
  /^\s*(?:[\w@.-]+\/)*[\w@.-]+\.\w{1,5}[:(]\d+(?:[:,]\d+)?\)?(?:[:\s]|$)/,
  /^\s*(?:FAIL|PASS|RUNS|SKIP)\s+[\w./-]*[./\d]/,
  /^\s*(?:not )?ok\s+(?:\d+\b|[\w.-]+\/\S+\s)/,
  /^\s*[✓✔✗✘×●○√]\s+\S.*(?:\(\d+ ?m?s\)|›)/,
  /^\s*\d+ (?:passing|failing|pending|passed|failed|skipped)(?:\s*\(.{0,40}\))?\s*$/,
  /^\s*(?:make|gcc|ld|clang|cargo|rustc|javac|go|git|docker|kubectl|bash|sh|zsh|curl|ssh|psql)(?:\[\d+\])?: /,
  /^\s*(?:Tests?|Test Suites|Snapshots|Time|Duration|Test Files):\s+\d.*\b(?:total|\d+(?:\.\d+)? ?m?s)\b/,
  /^\s*E {2,}\S/,
  // Commands with their prompt.
  /^\s*(?:\$|%|❯|➜|PS [A-Z]:.*>|\w+@[\w.-]+:.{0,60}[$#]) +\S/,
  // Diffs.
  /^(?:diff --git |index [0-9a-f]{6,}|@@ .* @@|--- [ab]\/|\+\+\+ [ab]\/)/,
  // Tables and rules.
  /^\s*\|.*\|\s*$/,
  /^\s*[+|]?(?:[-=─]{3,}[+|┼]?)+\s*$/,
  // Data and code.
  /^\s*[{}[\]();,]+\s*$/,
  /^\s*["']?[\w.-]+["']?\s*[:=]\s*(?:["'{[]|true\b|false\b|null\b|-?\d+[,;]?\s*$).*[,;{[]?\s*$/,
  /^\s*[{[]["'{[].*[}\]],?\s*$/,
  /^\s*(?:import|export|const|let|var|return|function|class|def|async|await|public|private|static|#include)\b.*[;{(=]\s*$/,
  /^\s*(?:async )?(?:def|class) \w+.*:\s*$/,
  /^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE TABLE|ALTER TABLE|WITH)\s.*(?:;|\bFROM\b|\bINTO\b|\bSET\b)/,
  /^\s*<\/?\w[^>]{0,200}>.*$/,
  /^\s*\w+(?:\.\w+)*\(.*\);?\s*$/,
  /^\s*\/\/|^\s*\/\*|^\s*\*\/|^\s*#!/,
];

/** One expression, because it is applied to every line. */
const EVIDENCE = new RegExp(KINDS.map(({ source }) => `(?:${source})`).join("|"));
const LEVEL = /^\s*\[(?:error|warn|warning|info|debug|fatal)\]/i;

const MIN_JUDGED = 24;
/** Letters of other scripts. */
const OTHER_SCRIPT = /[\u0250-\uffff]/;

export function isEvidenceLine(line: string): boolean {
  const head = line.slice(0, 400);
  if (EVIDENCE.test(head) || LEVEL.test(head)) return true;
  return head.length > MIN_JUDGED && isNoProse(head) && !OTHER_SCRIPT.test(head);
}

/** Hashes, paths and ids have few letters next to letters. */
function isNoProse(head: string): boolean {
  let inCompany = 0;
  let characters = 0;
  let run = 0;
  for (let at = 0; at < head.length; at += 1) {
    const code = head.charCodeAt(at);
    run = isLetter(code) ? run + 1 : 0;
    if (run > 1) inCompany += run === 2 ? 2 : 1;
    if (!isBlank(code)) characters += 1;
  }
  return inCompany < characters * 0.45;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
}

function isDiffLine(line: string): boolean {
  return /^[-+](?![-+\s]*$)|^\\ No newline|^ \S/.test(line);
}

function startsDiff(line: string): boolean {
  return /^(?:diff --git |@@ .* @@|--- [ab]\/)/.test(line);
}
