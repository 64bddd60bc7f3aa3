/** What an item of a hand-off names that can be looked up: branches, files, checks, uncommitted work. */
export interface Mentions {
  /** Called a branch, or named as branches are: one that git knew and does not know any more is gone. */
  branches: string[];
  /** Could be a branch, if git knows one of this name. */
  maybeBranches: string[];
  files: string[];
  /** Tests, a build or CI that fail. */
  isFailure: boolean;
  isUncommitted: boolean;
  /** Words by which a commit about the same thing would be recognised. */
  words: ReadonlySet<string>;
}

export function readMentions(text: string): Mentions {
  const plain = text.replace(/\b[a-z][a-z0-9+.-]{1,30}:\/\/\S+/gi, " ");
  const tokens = plain.split(/[\s"'`“”‘’«»<>()[\]{},;]+/).map((token) => token.replace(/^[.:!?]+|[.:!?]+$/g, ""));
  const files = unique(tokens.filter(isFile));
  const called = calledBranches(plain);
  // A word beside "branch" may be any word: "the branch looks good", "a half-finished branch".
  const named = unique([
    ...called.filter(({ name, isQuoted }) => isQuoted || /[_/#\d]/.test(name)).map(({ name }) => name),
    ...tokens.filter((token) => BRANCH_NAME.test(token)),
  ]);
  const branches = named.filter((name) => !files.includes(name));
  return {
    branches,
    maybeBranches: unique([
      ...called.map(({ name }) => name),
      ...tokens.filter((token) => MAYBE_BRANCH.test(token)),
    ]).filter((name) => !branches.includes(name)),
    files,
    isFailure: FAILURE.test(plain) && CHECK.test(plain),
    isUncommitted: UNCOMMITTED.test(plain),
    words: wordsOf(plain),
  };
}

const FAILURE =
  /\b(?:fail(?:s|ed|ing|ures?)?|red|broken|breaks?|flaky|errors?|not pass(?:ing)?|don't pass|doesn't pass)\b/i;
const CHECK = /\b(?:tests?|specs?|suite|ci|builds?|pipelines?|checks?|workflows?|lint(?:er|ing)?|type ?check|jobs?)\b/i;
const UNCOMMITTED =
  /\b(?:un-?committed|un-?staged|not (?:yet )?(?:been )?committed|(?:haven't|hasn't|didn't|not yet) commit(?:ted)?|to commit|commit (?:it|this|them|these|the (?:changes|work|rest))|working tree|work tree|dirty)\b/i;

const BRANCH_NAME =
  /^(?:feature|feat|fix|bugfix|hotfix|chore|release|refactor|wip|dependabot|renovate)\/[\w.#/-]{1,100}$/i;
const MAYBE_BRANCH = /^(?=.{4,100}$)[a-z0-9][\w.#]*(?:[/-][\w.#]+)+$/i;
const CALLED_BRANCH =
  /(?<![\w-])branch(?:es)?\s+(?:is\s+|called\s+|named\s+)?(["'`“]?)([\w][\w.#/-]{1,100})|(?<![\w./-])([\w][\w.#/-]{1,100})(["'`”]?)\s+branch\b(?!-)/gi;

function calledBranches(text: string): { name: string; isQuoted: boolean }[] {
  return Array.from(text.matchAll(CALLED_BRANCH), ([, opened, after, before, closed]) => ({
    name: (after ?? before ?? "").replace(/[.]+$/, ""),
    isQuoted: (opened ?? closed ?? "") !== "",
  }));
}

const FILE_ENDING = /\.[a-z][a-z0-9]{0,9}$/i;

/** With an ending; one that is no file of the repo is never spoken of. */
function isFile(token: string): boolean {
  return token.length <= 300 && FILE_ENDING.test(token) && /^[\w@.+~/-]+$/.test(token) && !/^[\d.v]+$/i.test(token);
}

const COMMON_WORDS: ReadonlySet<string> = new Set(
  `about after again also another because been before being both branch commit could does doing done fail failing
  failed fails file files first fixed from have here into issue just last make more need needs next only other over
  problem should since some still step test tests than that their them then there they this tomorrow until using very
  want were what when where which while will with work working would yesterday your`.split(/\s+/),
);

export function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/\p{L}[\p{L}\p{N}]{3,39}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON_WORDS.has(word)).map(stem));
}

/** Enough for "retries" and "retry", "logged" and "logging" to meet. */
function stem(word: string): string {
  return word.length <= 4 ? word : word.replace(/(?:ies|ied|ying|y)$/, "i").replace(/(?:ing|ed|es|s|er|ion)$/, "");
}

function unique(names: readonly string[]): string[] {
  return Array.from(new Set(names));
}
