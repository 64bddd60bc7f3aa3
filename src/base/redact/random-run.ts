/**
 * Whether a run of letters and digits was drawn by lot. Names that people make change between small letters,
 * capitals and digits seldom: at the beginnings of words. In a random run two of three neighbours differ.
 */

/** Longer than that are pictures and other files. */
const LONGEST = 512;
const SURE_LENGTH = 32;

/** Ids that others give to messages, calls and files. They open nothing, and a hand-off refers to them. */
const ID =
  /^(?:sha\d{1,3}-|(?:srv)?toolu_|(?:msg|req|call|chatcmpl|resp|run|thread|file|batch|evt|dpl|prj|org|session|cse|agent|ft|ftjob|asst|vs|cus|acct|price|prod|txn)[_-]|[a-z]{2,12}_01(?=[0-9A-Z])|AAAA[BCE])/;

export function isRandomRun(run: string): boolean {
  if (run.length > LONGEST || ID.test(run)) return false;
  const { changes, digitGroups, hasLower, hasUpper } = kindsIn(run);
  if (!hasLower || !hasUpper) return false;
  const isLong = run.length >= SURE_LENGTH;
  return digitGroups >= (isLong ? 2 : 3) && changes / (run.length - 1) >= (isLong ? 0.4 : 0.5);
}

interface Kinds {
  /** How often neighbours are of different kinds; what divides words does not count. */
  changes: number;
  digitGroups: number;
  hasLower: boolean;
  hasUpper: boolean;
}

type Kind = "digit" | "upper" | "lower";

function kindsIn(run: string): Kinds {
  const kinds: Kinds = { changes: 0, digitGroups: 0, hasLower: false, hasUpper: false };
  let before: Kind | undefined;
  for (let at = 0; at < run.length; at++) {
    const kind = kindOf(run.charCodeAt(at));
    if (kind === undefined) continue;
    if (kind === "lower") kinds.hasLower = true;
    if (kind === "upper") kinds.hasUpper = true;
    if (kind === before) continue;
    if (before !== undefined) kinds.changes++;
    if (kind === "digit") kinds.digitGroups++;
    before = kind;
  }
  return kinds;
}

function kindOf(code: number): Kind | undefined {
  if (code >= 97 && code <= 122) return "lower";
  if (code >= 65 && code <= 90) return "upper";
  return code >= 48 && code <= 57 ? "digit" : undefined;
}
