/**
 * One spelling for what the cues look for: lower case, contractions written out ("can't" → "can not"),
 * the commonest slips mended, and what is a name rather than a statement (code, addresses, paths,
 * quotations) replaced by a noun, so that `failed_jobs` or a quoted "it's broken" asserts nothing.
 */

const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u02bc`´](?=\w)/g, "'"],
  [/[\u2010-\u2012]/g, "-"],
  [/\b(?:can't|cannot|cant|can’t)\b/g, "can not"],
  [/\bwon't\b/g, "will not"],
  [/\bain't\b/g, "is not"],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)n'?t\b/g, "$1 not"],
  [/\b(?:dosnt|doesn|dosen't|dosent|doesnot)\b/g, "does not"],
  [/\b(?:dont|don)\b/g, "do not"],
  [/\b(i|you|we|they|who|that|there)'?ve\b/g, "$1 have"],
  [/\b(i|you|he|she|it|we|they|that|there|this|who)'ll\b/g, "$1 will"],
  [/\b(you|we|they|there|what|who|these|those)'re\b/g, "$1 are"],
  [/\b(?:im|i'm)\b/g, "i am"],
  [/\bive\b/g, "i have"],
  [/\b(?:let's|lets)\b/g, "let us"],
  [/\b(it|that|there|what|here|he|she|who|where|how|why|everything|nothing|something|nobody|everyone)'s\b/g, "$1 is"],
  [
    /(?<=[a-z])'s (?=(?:been|gone|dead|out|back|down|up|off|on|not|now|still|all|done|fine|ok|okay|good|live|ready|here|there|broken|stuck|late|missing|working|running|green|red|in|over|too|only|just|finally|also|being|going|getting|never|always|no|a|an|the|free|empty|full|full|sorted|fixed|final)\b)/g,
    " is ",
  ],
  [/\b(?:thats)\b/g, "that is"],
  [/\b(i|you|he|she|it|we|they|that)'d\b/g, "$1 would"],
  [/\bgonna\b/g, "going to"],
  [/\bgotta\b/g, "have to"],
  [/\bwanna\b/g, "want to"],
  [/\bteh\b/g, "the"],
  [/\b(?:alrite|alright)\b/g, "all right"],
  [/\b(?:wrking|workign|woking)\b/g, "working"],
  [/\b(?:brocken|borken)\b/g, "broken"],
  [/\bdecied(ed)?\b/g, "decided"],
  [/\bany ?more\b/g, "anymore"],
  [/[✅☑✔🟢]/gu, " done_ "],
  [/[❌✖🔴🚨]/gu, " failed_ "],
  [/[🎉🚀🥳🙌🎊💪]/gu, " hooray_ "],
];

const NAMES: readonly (readonly [RegExp, string])[] = [
  // Keys, hashes, encoded data.
  [/[\w+=-]{64,}/g, " code_ "],
  [/`{1,2}[^`\n]{1,300}`{1,2}/g, " code_ "],
  [/\bhttps?:\/\/[^\s<>)\]]{1,2000}/g, " url_ "],
  [/\[([^\]\n]{1,200})\]\([^)\n]{1,500}\)/g, "$1"],
  [/["“”«»]([^"“”«»\n]{1,400})["“”«»]/g, " quote_ "],
  [/(?<=^|[\s(:])['‘]([^'‘’\n]{2,200})['’](?=$|[\s.,;:!?)])/g, " quote_ "],
  [/(?<![\w/])(?:\.{0,2}\/)?(?:[\w@.-]{1,80}\/){1,12}[\w@.-]{0,80}\w/g, " path_ "],
  [
    /\b[\w-]{1,60}\.(?:ts|js|tsx|jsx|py|rs|go|java|md|json|ya?ml|toml|csv|xlsx?|pdf|docx?|sql|sh|txt|html|css|conf|env|parquet|png|log)\b/gi,
    " path_ ",
  ],
  [/\*\*|__|~~|(?<=\s|^)[*_](?=\w)|(?<=\w)[*](?=\s|$|[.,])/g, ""],
];

/** Whether any of the replacements has something to do: most sentences have none of it. */
const MAY_REPLACE =
  /['\u2018\u2019\u02bc`´]|[^\0-\x7f]|\b(?:cant|cannot|wont|dosnt|doesn|dosent|doesnot|dont|don|im|ive|lets|thats|gonna|gotta|wanna|teh|alrite|alright|wrking|workign|woking|brocken|borken|decied(?:ed)?|any ?more|(?:do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)nt|(?:you|we|they|who|that|there)ve)\b/;
const MAY_NAME = /["'“”«»‘`/[*_~]|\.\w|[\w+=-]{64}/;

export function normalize(sentence: string): string {
  let text = sentence;
  if (MAY_NAME.test(text)) for (const [pattern, replacement] of NAMES) text = text.replace(pattern, replacement);
  text = text.toLowerCase();
  if (MAY_REPLACE.test(text))
    for (const [pattern, replacement] of REPLACEMENTS) text = text.replace(pattern, replacement);
  return text.replace(/\s+/g, " ").trim();
}
