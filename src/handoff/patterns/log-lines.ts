/**
 * Tells pasted evidence (logs, stack traces, command output, diffs, tables, data) from what somebody
 * says. Evidence asserts nothing by itself: "ERROR" in a log is not a person reporting a blocker.
 */

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

/** All of them in one look: asked of every line that anybody writes. */
const EVIDENCE = new RegExp(KINDS.map(({ source }) => `(?:${source})`).join("|"));
const LEVEL = /^\s*\[(?:error|warn|warning|info|debug|fatal)\]/i;

const LEAST_JUDGED = 24;
/** Any other script has letters of its own. */
const OTHER_SCRIPT = /[\u0250-\uffff]/;

export function isEvidenceLine(line: string): boolean {
  const head = line.slice(0, 400);
  if (EVIDENCE.test(head) || LEVEL.test(head)) return true;
  return head.length > LEAST_JUDGED && isNoProse(head) && !OTHER_SCRIPT.test(head);
}

/** Hashes, paths and ids have few letters in company of others. */
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

/** As far as lines in the script of English have them. */
function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
}

/** In a diff, additions and removals are evidence too. */
export function isDiffLine(line: string): boolean {
  return /^[-+](?![-+\s]*$)|^\\ No newline|^ \S/.test(line);
}

export function startsDiff(line: string): boolean {
  return /^(?:diff --git |@@ .* @@|--- [ab]\/)/.test(line);
}
