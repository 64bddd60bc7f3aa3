/**
 * What people and agents say about the work itself, beside what pattern detection finds: what they ask
 * for, what they offer, agree to, call off and report. Sentences are read in their plain form
 * (`patterns/normalize.ts`).
 */
import { lateExpression } from "../patterns/pattern.ts";
import { LEAD } from "./plan-words.ts";

/** Of a person: asks for work, in words that the stance of a clause does not show. */
const WANTS = lateExpression(
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

export function wantsWork(plain: string): boolean {
  return WANTS.regexp.test(plain);
}

/** What is asked for is an answer: with one, it is done. */
const INFORMS =
  /^(?:(?:so|ok|okay|and|also|then|now|first|please|hey|hi)[,.!]? )*(?:(?:can|could|would|will) (?:you|u|ya) )?(?:please )?(?:tell|explain|show|describe|clarify|find out|look up|remind|help me (?:understand|see|decide|choose)|let me know|say|check (?:if|whether|why|what|when|how))\b/;

export function asksToKnow(plain: string): boolean {
  return INFORMS.test(plain);
}

/** What is asked for is a text: an answer of some length is one. */
const WORDS_WANTED =
  /\b(?:write|draft|summari[sz]e|translate|rewrite|rephrase|compare|list|suggest|brainstorm|outline|propose|proofread|shorten)\b/;

export function asksForText(line: string): boolean {
  return WORDS_WANTED.test(line.toLowerCase());
}

/** What is to be made is not done with being agreed on. */
const MAKES =
  /\b(?:let us|please|pls|plz|(?:can|could|would|will) (?:you|u)) (?:now |first |also |please |just |finally )*(?:build|write|implement|add|fix|create|migrate|port|refactor|set up|get|make|prepare|finish|test|deploy|start|work|plan|design|draft|develop|move|rewrite|rename|clean|update|upgrade|convert|organi[sz]e|review|debug|investigate|ship|release|launch|translate|paint|install|replace|remove|find|look|check|help|do (?!.*\binstead))\b/;
const SETTLED = /\b(?:decided|agreed|settled|final|instead)\b/;

/** Asks for something that is done with the choice: "let's use this", "always do it so". */
export function settles(plain: string): boolean {
  return SETTLED.test(plain) || !MAKES.test(plain);
}

const DISMISSES = /\b(?:never ?mind|forget (?:it|that|about|the)|do not bother|no need (?:for|to))\b/;

/** Tells that something is not wanted any more; that is no decision to go on with. */
export function dismisses(plain: string): boolean {
  return DISMISSES.test(plain);
}

const OFFER =
  /\b(?:shall|should) i\b|\b(?:want|like|need) me to\b|\bi can\b.{1,120}\bif you (?:want|like|wish)|\blet me know if (?:i should|you want me)|\bok(?:ay)? (?:if|for me to) i?\b/;
const PROPOSAL =
  /\b(?:i (?:would |strongly )?(?:suggest|recommend|propose)|my (?:suggestion|recommendation|proposal)|i would (?:go with|use|pick|choose|keep|start with|split|move))\b/;

export function saysOffer(plain: string, isQuestion: boolean): "offer" | "proposal" | undefined {
  if (OFFER.test(plain)) return "offer";
  return PROPOSAL.test(plain) && !isQuestion ? "proposal" : undefined;
}

const NEEDS_INPUT =
  /^(?:\w+[,.]? )?(?:i|we) (?:still |only |first )*need (?!to\b)|\bplease (?:send|tell|confirm|provide|share|let me know|choose|check)\b|\b(?:could|can) you (?:send|tell|confirm|provide|share|choose|check)\b/;

/** The agent cannot go on without an answer. */
export function needsInput(plain: string): boolean {
  return NEEDS_INPUT.test(plain);
}

const AGREES =
  /^(?:yes|yep|yeah|yup|sure|ok(?:ay)?|please do|go (?:ahead|for it)|do (?:it|that|so|both)|sounds? (?:good|great|fine|right|like a plan)|agreed?|exactly|that works|fine|good idea|good plan|makes sense|perfect|great|deal|let us do (?:it|that|this)|approved|👍)(?=$|[\s,.!:)-])(?! (?:but|no|not|wait)\b)/u;

export function agrees(plain: string): boolean {
  return AGREES.test(plain);
}

const CALLS_OFF =
  /\b(?:never ?mind|forget (?:it|that|this|about|the)|cancel (?:it|that|the|this)|drop (?:it|that|the idea|the plan)|scrap (?:it|that|the)|leave (?:it|that) (?:for now|be|as is)|no need (?:for|to)\b|(?:is|are) not needed anymore|do not bother|skip (?:it|that|the)|stop (?:it|that|working on))\b/;
const WITHOUT_NAME = /(?:it|that|this|for now|be|as is|bother)$/;

/** What a sentence calls off, as far as it names it: nothing, if it says "forget it". */
export function calledOff(plain: string): string | undefined {
  const found = CALLS_OFF.exec(plain);
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
const DONE =
  /^(?:ok(?:ay)?[,.!]? |and |all |great[,.!]? |done_ |hooray_ )*(?:done_?|finished|completed|sorted|fixed|all set|that is (?:it|done|all)|it is (?:done|live|fixed|out|up)|it works(?: now| again)?|works (?:now|great|perfectly|fine|for me)|lgtm|(?:that is )?exactly what i (?:needed|wanted)|that (?:worked|did it|fixed it|did the trick))[.!, ]*(?:now|then|hooray_|thanks)?[.!]*$/;

export function saysDone(plain: string): boolean {
  return DONE.test(plain);
}

const DELIVERS =
  /^(?:\w+[,.!] )?(?:here (?:is|are|you go)\b(?! (?:how|what|why|(?:the|my|a) (?:plan|proposal|suggestion|idea)|where))|attached\b|below (?:is|are)\b)/;

/** Hands over what was asked for. */
export function delivers(plain: string): boolean {
  return DELIVERS.test(plain);
}

const PARTLY =
  /\b(?:the (?:other|others|rest|remaining|last (?:two|three|\d+))|still (?:open|missing|to do|need|needs|left|to come)|remain\w*|not yet|so far|half|part of|partly|partially|\d+ (?:out )?of (?:the )?\d+|first (?:part|half|two|three|\d+)|except)\b/;

/** What is reported is not all of it. */
export function reportsPart(plain: string): boolean {
  return PARTLY.test(plain);
}

const REST = /\bthe (?:rest|others?|remaining)\b/;

/** There is more of the same to do. */
export function leavesRest(plain: string): boolean {
  return REST.test(plain);
}

const FAILED =
  /\b(?:failed|fails|could not|can not|did not (?:work|help|go through)|was not able|unable|rolled back|gave up)\b/;

/** Tells that something did not come off. */
export function reportsFailure(plain: string): boolean {
  return FAILED.test(plain);
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
const SMALL_TALK =
  /\b(?:weather|weekends?|lunch|dinner|breakfast|coffee|holidays?|vacation|birthday|football|soccer|movie|film|joke|song|music|how are you|slept|sleepy|tired|my (?:kids?|dog|cat|wife|husband|mum|mom|dad)|raining|sunny|recipe|horoscope|poem|restaurant)\b/;
const LEAVES =
  /^(?:(?:ok|so|well|right|sorry)[,.]? )*(?:(?:i )?(?:have to|need to|must|got to) (?:run|go|leave|jump)\b|talk (?:to you )?(?:later|tomorrow|soon)|see you|brb|afk|good night|signing off|(?:i )?(?:am )?off (?:for|to)|let us call it a day|back (?:in|later|tomorrow))/;
const WORK =
  /\b(?:build|deploy\w*|tests?|code|fix\w*|bugs?|errors?|releases?|branch|pr|prs|server|invoices?|contract|reports?|draft|clients?|customers?|ticket|api|data|database|migrat\w+|script|docs?|page|site|slides|budget|deadline|launch|campaign|feature|refactor\w*|review|merge|pipeline|ci|config\w*|agenda|minutes|proposal|spreadsheet|project|code_|path_)\b/;

/** Greetings, thanks and chat about life: nothing that work would be continued from. */
export function isCasual(plains: readonly string[]): boolean {
  return plains.every((plain) => {
    return (
      isPhatic(plain) || LEAVES.test(plain) || ((SMALL_TALK.test(plain) || THANKS.test(plain)) && !isAboutWork(plain))
    );
  });
}

/** Dinner and holidays are also what people plan, and what is in their way. */
const IN_EARNEST =
  /\b(?:blocked|stuck|decided|agreed|settled|(?:going|went) with|we are having|instead|need(?:s|ed)? to|must|have to|has to|guests?|venue|caterer|plan\w*|invit\w*|confirm\w*|cancel\w*|tasks?|work(?:ing)?|finish\w*|next|problem|design\w*|wait\w*|book(?:ed|ing)?|order(?:ed|s)?|please|can not)\b/;
const THANKS = /^(?:(?:ok|great|perfect|nice)[,.!]? )?(?:thanks|thank you|thx)\b(?!.*\b(?:but|please|next|and)\b)/;

function isAboutWork(plain: string): boolean {
  return WORK.test(plain) || IN_EARNEST.test(plain);
}

/** Talk about life, and not about work by the way. */
export function isSmallTalk(plains: readonly string[]): boolean {
  return !plains.some((plain) => WORK.test(plain));
}

const LONGEST_PHATIC = 80;
const WISHES = /^(?:i )?hope (?:you|this|all|everything|things|the)\b/;

export function isPhatic(plain: string): boolean {
  if (WISHES.test(plain)) return true;
  if (plain.length > LONGEST_PHATIC) return false;
  const words = plain.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.filter((word) => !PHATIC.has(word)).length <= (words.length > 2 ? 1 : 0);
}
