/**
 * One spelling for what the cues look for: lower case, contractions written out ("can't" → "can not"),
 * the commonest slips mended, and what is a name rather than a statement (code, addresses, paths,
 * quotations) replaced by a noun, so that `failed_jobs` or a quoted "it's broken" asserts nothing.
 */

/** What to replace by what; of the last each match has at least one, and most sentences have none. */
type Replacement = readonly [pattern: RegExp, by: string, needs: readonly string[]];

const REPLACEMENTS: readonly Replacement[] = [
  [/[\u2018\u2019\u02bc`´](?=\w)/g, "'", ["\u2018", "\u2019", "\u02bc", "`", "´"]],
  [/[\u2010-\u2012]/g, "-", ["\u2010", "\u2011", "\u2012"]],
  [/\b(?:can't|cannot|cant|can’t)\b/g, "can not", ["can"]],
  [/\bwon't\b/g, "will not", ["won't"]],
  [/\bain't\b/g, "is not", ["ain't"]],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)n'?t\b/g, "$1 not", ["n't", "nt"]],
  [/\b(?:dosnt|doesn|dosen't|dosent|doesnot)\b/g, "does not", ["dos", "doesn"]],
  [/\b(?:dont|don)\b/g, "do not", ["don"]],
  [/\b(i|you|we|they|who|that|there)'?ve\b/g, "$1 have", ["ve"]],
  [/\b(i|you|he|she|it|we|they|that|there|this|who)'ll\b/g, "$1 will", ["'ll"]],
  [/\b(you|we|they|there|what|who|these|those)'re\b/g, "$1 are", ["'re"]],
  [/\b(?:im|i'm)\b/g, "i am", ["im", "i'm"]],
  [/\bive\b/g, "i have", ["ive"]],
  [/\b(?:let's|lets)\b/g, "let us", ["let"]],
  [
    /\b(it|that|there|what|here|he|she|who|where|how|why|everything|nothing|something|nobody|everyone)'s\b/g,
    "$1 is",
    ["'s"],
  ],
  [
    /(?<=[a-z])'s (?=(?:been|gone|dead|out|back|down|up|off|on|not|now|still|all|done|fine|ok|okay|good|live|ready|here|there|broken|stuck|late|missing|working|running|green|red|in|over|too|only|just|finally|also|being|going|getting|never|always|no|a|an|the|free|empty|full|full|sorted|fixed|final)\b)/g,
    " is ",
    ["'s "],
  ],
  [/\b(?:thats)\b/g, "that is", ["thats"]],
  [/\b(i|you|he|she|it|we|they|that)'d\b/g, "$1 would", ["'d"]],
  [/\bgonna\b/g, "going to", ["gonna"]],
  [/\bgotta\b/g, "have to", ["gotta"]],
  [/\bwanna\b/g, "want to", ["wanna"]],
  [/\bteh\b/g, "the", ["teh"]],
  [/\b(?:alrite|alright)\b/g, "all right", ["alri"]],
  [/\b(?:wrking|workign|woking)\b/g, "working", ["wrking", "workign", "woking"]],
  [/\b(?:brocken|borken)\b/g, "broken", ["brocken", "borken"]],
  [/\bdecied(ed)?\b/g, "decided", ["decied"]],
  [/→/g, " arrow_ ", ["→"]],
  [/\bany ?more\b/g, "anymore", ["more"]],
  [/[✅☑✔🟢]/gu, " done_ ", ["✅", "☑", "✔", "🟢"]],
  [/[❌✖🔴🚨]/gu, " failed_ ", ["❌", "✖", "🔴", "🚨"]],
  [/[🎉🚀🥳🙌🎊💪]/gu, " hooray_ ", ["🎉", "🚀", "🥳", "🙌", "🎊", "💪"]],
];

/** Keys, hashes, encoded data. */
const LONG_NAME = /(?<![\w+=-])[\w+=-]{64,}/g;

const NAMES: readonly Replacement[] = [
  [/`{1,2}[^`\n]{1,300}`{1,2}/g, " code_ ", ["`"]],
  [/\bhttps?:\/\/[^\s<>)\]]{1,2000}/g, " url_ ", ["://"]],
  [/\[([^\]\n]{1,200})\]\([^)\n]{1,500}\)/g, "$1", ["]("]],
  [/["“”«»]([^"“”«»\n]{1,400})["“”«»]/g, " quote_ ", ['"', "“", "”", "«", "»"]],
  [/(?<=^|[\s(:])['‘]([^'‘’\n]{2,200})['’](?=$|[\s.,;:!?)])/g, " quote_ ", ["'", "‘"]],
  [/(?<![\w/])(?:\.{0,2}\/)?(?:[\w@.-]{1,80}\/){1,12}[\w@.-]{0,80}\w/g, " path_ ", ["/"]],
  [
    /\b[\w-]{1,60}\.(?:ts|js|tsx|jsx|py|rs|go|java|md|json|ya?ml|toml|csv|xlsx?|pdf|docx?|sql|sh|txt|html|css|conf|env|parquet|png|log)\b/gi,
    " path_ ",
    ["."],
  ],
  [/\*\*|__|~~|(?<=\s|^)[*_](?=\w)|(?<=\w)[*](?=\s|$|[.,])/g, "", ["*", "_", "~"]],
];

/** Whether any of the replacements has something to do: most sentences have none of it. */
const MAY_REPLACE =
  /['\u2018\u2019\u02bc`´]|[^\0-\x7f]|\b(?:cant|cannot|wont|dosnt|doesn|dosent|doesnot|dont|don|im|ive|lets|thats|gonna|gotta|wanna|teh|alrite|alright|wrking|workign|woking|brocken|borken|decied(?:ed)?|any ?more|(?:do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)nt|(?:you|we|they|who|that|there)ve)\b/;
const MAY_NAME = /["'“”«»‘`/[*_~]|\.\w/;
/** Blanks that are not one space already. */
const BLANKS = /[^\S ]\s*| \s+/g;

export function normalize(sentence: string): string {
  let text = sentence.length < 64 ? sentence : sentence.replace(LONG_NAME, " code_ ");
  if (MAY_NAME.test(text)) text = replaceAll(text, NAMES);
  text = text.toLowerCase();
  if (MAY_REPLACE.test(text)) text = replaceAll(text, REPLACEMENTS);
  return text.replace(BLANKS, " ").trim();
}

function replaceAll(text: string, replacements: readonly Replacement[]): string {
  let result = text;
  for (const [pattern, by, needs] of replacements) if (hasAny(result, needs)) result = result.replace(pattern, by);
  return result;
}

function hasAny(text: string, pieces: readonly string[]): boolean {
  for (const piece of pieces) if (text.includes(piece)) return true;
  return false;
}
