/**
 * What people and agents say about the work itself, beside what pattern detection finds: what they ask
 * for, what they offer, agree to, call off and report. Sentences are read in their plain form
 * (`patterns/normalize.ts`).
 */
import { expression } from "../patterns/pattern.ts";
import { matches, type Plain } from "../patterns/plain.ts";
import { isPresent } from "../patterns/presence.ts";
import { goesOn } from "../patterns/remark.ts";
import type { Sentence } from "../patterns/sentences.ts";
import { LEAD } from "./plan-words.ts";

/** Of a person: asks for work, in words that the stance of a clause does not show. */
const WANTS = expression(
  "words:wants",
  `${LEAD}(?:${[
    String.raw`(?:i|we) (?:really |also |still |now |only |just )*(?:need|want|would like|have|must|got)(?: you| someone)? to\b`,
    String.raw`(?:still|also) (?:need|have|got) to\b`,
    String.raw`(?:i|we) (?:also |still |now )?need (?:the|a|an|your|some|all|more|two|three|\d+) `,
    String.raw`let us (?!use\b|go (?:with|on)|keep\b|stick|call it|see\b|wait|not\b|leave|continue|proceed|move on)[a-z]+`,
    String.raw`your (?:job|task) (?:is|today)`,
    String.raw`(?:(?:the|our|my|today's|your|current|main) )+(?:goal|plan|task|job|aim|objective|mission|assignment|focus)(?: \w+){0,3}(?: is\b|:)`,
    String.raw`task:|have a look|take a look|go through|(?:can|could|would|will) (?:you|u|ya)\b`,
    String.raw`(?:remember|do not forget) to|make sure|remind (?:me|us)|i (?:want|would like) (?:the|a|an) `,
  ].join("|")})`,
);

export function wantsWork(said: Plain): boolean {
  return matches(said, WANTS);
}

/** What is asked for is an answer: with one, it is done. */
const INFORMS = expression(
  "words:informs",
  String.raw`^(?:(?:so|ok|okay|and|also|then|now|first|please|hey|hi)[,.!]? )*(?:(?:can|could|would|will) (?:you|u|ya) )?(?:please )?(?:tell|explain|show|describe|clarify|find out|look up|remind|help me (?:understand|see|decide|choose)|let me know|say|check (?:if|whether|why|what|when|how))\b`,
);

export function asksToKnow(said: Plain): boolean {
  return matches(said, INFORMS);
}

/** What is asked for is a text: an answer of some length is one. */
const WORDS_WANTED =
  /\b(?:write|draft|summari[sz]e|translate|rewrite|rephrase|compare|list|suggest|brainstorm|outline|propose|proofread|shorten)\b/;

export function asksForText(line: string): boolean {
  return WORDS_WANTED.test(line.toLowerCase());
}

/** What is to be made is not done with being agreed on. */
const MAKES = expression(
  "words:makes",
  String.raw`\b(?:let us|please|pls|plz|(?:can|could|would|will) (?:you|u)) (?:now |first |also |please |just |finally )*(?:build|write|implement|add|fix|create|migrate|port|refactor|set up|get|make|prepare|finish|test|deploy|start|work|plan|design|draft|develop|move|rewrite|rename|clean|update|upgrade|convert|organi[sz]e|review|debug|investigate|ship|release|launch|translate|paint|install|replace|remove|find|look|check|help|do (?!.*\binstead))\b`,
);
const SETTLED = expression("words:settled", String.raw`\b(?:decided|agreed|settled|final|instead)\b`);

/** Asks for something that is done with the choice: "let's use this", "always do it so". */
export function settles(said: Plain): boolean {
  return matches(said, SETTLED) || !matches(said, MAKES);
}

const DISMISSES = expression(
  "words:dismisses",
  String.raw`\b(?:never ?mind|forget (?:it|that|about|the)|do not bother|no need (?:for|to))\b`,
);

/** Tells that something is not wanted any more; that is no decision to go on with. */
export function dismisses(said: Plain): boolean {
  return matches(said, DISMISSES);
}

const OFFER = expression(
  "words:offer",
  String.raw`\b(?:shall|should) i\b|\b(?:want|like|need) me to\b|\bi can\b.{1,120}\bif you (?:want|like|wish)|\blet me know if (?:i should|you want me)|\bok(?:ay)? (?:if|for me to) i?\b`,
);
const PROPOSAL = expression(
  "words:proposal",
  String.raw`\b(?:i (?:would |strongly )?(?:suggest|recommend|propose)|my (?:suggestion|recommendation|proposal)|i would (?:go with|use|pick|choose|keep|start with|split|move))\b`,
);

export function saysOffer(said: Plain, isQuestion: boolean): "offer" | "proposal" | undefined {
  if (matches(said, OFFER)) return "offer";
  return matches(said, PROPOSAL) && !isQuestion ? "proposal" : undefined;
}

const NEEDS_INPUT = expression(
  "words:needs-input",
  String.raw`^(?:\w+[,.]? )?(?:i|we) (?:still |only |first )*need (?!to\b)|\bplease (?:send|tell|confirm|provide|share|let me know|choose|check)\b|\b(?:could|can) you (?:send|tell|confirm|provide|share|choose|check)\b`,
);

/** The agent cannot go on without an answer. */
export function needsInput(said: Plain): boolean {
  return matches(said, NEEDS_INPUT);
}

const AGREES = expression(
  "words:agrees",
  String.raw`^(?:yes|yep|yeah|yup|sure|ok(?:ay)?|please do|go (?:ahead|for it)|do (?:it|that|so|both)|sounds? (?:good|great|fine|right|like a plan)|agreed?|exactly|that works|fine|good idea|good plan|makes sense|perfect|great|deal|let us do (?:it|that|this)|approved|👍)(?=$|[\s,.!:)-])(?! (?:but|no|not|wait)\b)`,
  { flags: "u" },
);

export function agrees(said: Plain): boolean {
  return matches(said, AGREES);
}

const CALLS_OFF = expression(
  "words:calls-off",
  String.raw`\b(?:never ?mind(?!,? (?:that|it|this)(?: one)? (?:is|was|got) (?:solved|fixed|resolved|sorted|done|gone|over|working))|forget (?:it|that|this|about|the)|cancel (?:it|that|the|this)|drop (?:it|that|the idea|the plan)|scrap (?:it|that|the)|leave (?:it|that) (?:for now|be|as is)|no need (?:for|to)\b|(?:is|are) not needed anymore|do not bother|skip (?:it|that|the)|stop (?:it|that|working on))\b`,
);
const WITHOUT_NAME = /(?:it|that|this|for now|be|as is|bother)$/;

/** What a sentence calls off, as far as it names it: nothing, if it says "forget it". */
export function calledOff({ plain, present }: Sentence): string | undefined {
  const found = isPresent(present, CALLS_OFF) ? CALLS_OFF.regexp.exec(plain) : null;
  if (found === null) return undefined;
  const [said] = found;
  if (WITHOUT_NAME.test(said)) return "";
  if (said.endsWith("anymore")) return plain.slice(0, found.index);
  const [named = ""] = plain
    .slice(found.index + said.length)
    .split(/[,.;:!]|\b(?:because|since|as|it|we|i|nobody|they)\b/);
  return named;
}

/** Says that the thing at hand is done without naming it. */
const DONE = expression(
  "words:done",
  String.raw`^(?:ok(?:ay)?[,.!]? |and |all |great[,.!]? |done_ |hooray_ )*(?:done_?|finished|completed|sorted|fixed|all set|that is (?:it|done|all)|it is (?:done|live|fixed|out|up)|it works(?: now| again)?|works (?:now|great|perfectly|fine|for me)|lgtm|(?:that is )?exactly what i (?:needed|wanted)|that (?:worked|did it|fixed it|did the trick))(?:(?:,|,? (?:and|\+|&)) (?:done|fixed|finished|deployed|merged|pushed|shipped|released|live|tested|sent|closed|out))*[.!, ]*(?:now|then|hooray_|thanks)?[.!]*$`,
);

export function saysDone(said: Plain): boolean {
  return matches(said, DONE);
}

const DELIVERS = expression(
  "words:delivers",
  String.raw`^(?:\w+[,.!] )?(?:here (?:is|are|you go)\b(?! (?:how|what|why|(?:the|my|a) (?:plan|proposal|suggestion|idea)|where))|attached\b|below (?:is|are)\b)`,
);

/** Hands over what was asked for. */
export function delivers(said: Plain): boolean {
  return matches(said, DELIVERS);
}

const PARTLY = expression(
  "words:partly",
  String.raw`\b(?:the (?:other|others|rest|remaining|last (?:two|three|\d+))|still (?:open|missing|to do|need|needs|left|to come)|remain\w*|not yet|so far|half|part of|partly|partially|\d+ (?:out )?of (?:the )?\d+|first (?:part|half|two|three|\d+)|except)\b`,
);

/** What is reported is not all of it. */
export function reportsPart(said: Plain): boolean {
  return matches(said, PARTLY);
}

const REST = expression("words:rest", String.raw`\bthe (?:rest|others?|remaining)\b`);

/** There is more of the same to do. */
export function leavesRest(said: Plain): boolean {
  return matches(said, REST);
}

const FAILED = expression(
  "words:failed",
  String.raw`\b(?:failed|fails|could not|can not|did not (?:work|help|go through)|was not able|unable|rolled back|gave up)\b`,
);

/** Tells that something did not come off. */
export function reportsFailure(said: Plain): boolean {
  return matches(said, FAILED);
}

const PROHIBITS = /^(?:\w+ )?(?:please )?(?:do not (?!forget)|never)\b/;

/** "Don't send it" is asked for, but is no work. */
export function prohibits(clause: string): boolean {
  return PROHIBITS.test(clause);
}

const PHATIC = new Set(
  `hi hey hello yo morning afternoon evening night good thanks thank you thx ty ok okay k kk cool nice great awesome perfect
  sure yes yep yeah yup no nope lol haha hah hehe please sounds got it bye see later then so much a lot very all right fine
  alright understood noted welcome problem worries will do brilliant super wonderful love np cheers best there again too
  well done indeed exactly agreed wow oh ah hm hmm and i am is that how are what up everyone team guys man mate just appreciate
  appreciated sweet lovely amazing fantastic excellent hooray_ done_ day have one enjoy your the weekend today`.split(
    /\s+/,
  ),
);
const SMALL_TALK = expression(
  "words:small-talk",
  String.raw`\b(?:weather|weekends?|lunch|dinner|breakfast|coffee|holidays?|vacation|birthday|football|soccer|movie|film|joke|song|music|how are you|slept|sleepy|tired|my (?:kids?|dog|cat|wife|husband|mum|mom|dad)|raining|sunny|recipe|horoscope|poem|restaurant)\b`,
);
const LEAVES = expression(
  "words:leaves",
  String.raw`^(?:(?:ok|so|well|right|sorry)[,.]? )*(?:(?:i )?(?:have to|need to|must|got to) (?:run|go|leave|jump)\b|talk (?:to you )?(?:later|tomorrow|soon)|see you|brb|afk|good night|signing off|(?:i )?(?:am )?off (?:for|to)|let us call it a day|back (?:in|later|tomorrow))`,
);
const WORK = expression(
  "words:work",
  String.raw`\b(?:build|deploy\w*|tests?|code|fix\w*|bugs?|errors?|releases?|branch|pr|prs|server|invoices?|contract|reports?|draft|clients?|customers?|ticket|api|data|database|migrat\w+|script|docs?|page|site|slides|budget|deadline|launch|campaign|feature|refactor\w*|review|merge|pipeline|ci|config\w*|agenda|minutes|proposal|spreadsheet|project|code_|path_)\b`,
);

/** Greetings, thanks and chat about life: nothing that work would be continued from. */
export function isCasual(sentences: readonly Plain[]): boolean {
  return sentences.every((said) => {
    return (
      isPhatic(said) ||
      matches(said, LEAVES) ||
      ((matches(said, SMALL_TALK) || matches(said, THANKS)) && !isAboutWork(said))
    );
  });
}

/** Dinner and holidays are also what people plan, and what is in their way. */
const IN_EARNEST = expression(
  "words:in-earnest",
  String.raw`\b(?:blocked|stuck|decided|agreed|settled|(?:going|went) with|we are having|instead|need(?:s|ed)? to|must|have to|has to|guests?|venue|caterer|plan\w*|invit\w*|confirm\w*|cancel\w*|tasks?|work(?:ing)?|finish\w*|next|problem|design\w*|wait\w*|book(?:ed|ing)?|order(?:ed|s)?|please|can not)\b`,
);
const THANKS = expression(
  "words:thanks",
  String.raw`^(?:(?:ok|great|perfect|nice)[,.!]? )?(?:thanks|thank you|thx)\b(?!.*\b(?:but|please|next|and)\b)`,
);

function isAboutWork(said: Plain): boolean {
  return matches(said, WORK) || matches(said, IN_EARNEST);
}

/** Talk about life, and not about work by the way. */
export function isSmallTalk(sentences: readonly Plain[]): boolean {
  return !sentences.some((said) => matches(said, WORK));
}

const LONGEST_PHATIC = 80;
const WORD = /[\p{L}\p{N}_]+/gu;
const WISHES = expression("words:wishes", String.raw`^(?:i )?hope (?:you|this|all|everything|things|the)\b`);

/** All of its words are; in more than two of them one may be another, such as a name. */
export function isPhatic(said: Plain): boolean {
  const { plain } = said;
  if (matches(said, WISHES) || goesOn(said)) return true;
  if (plain.length > LONGEST_PHATIC) return false;
  let words = 0;
  let others = 0;
  WORD.lastIndex = 0;
  for (let match = WORD.exec(plain); match !== null; match = WORD.exec(plain)) {
    words += 1;
    if (!PHATIC.has(match[0])) others += 1;
    if (others > 1) return false;
  }
  return others === 0 || words > 2;
}
