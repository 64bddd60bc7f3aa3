/**
 * What people and agents say they are doing and what they say comes next. Sentences are read in their plain
 * form (`patterns/normalize.ts`). The expressions are open about how a sentence begins: most people write
 * "ok so today" or "hi," before they come to the point.
 */

import { expression } from "../patterns/pattern.ts";
import { matches, type Plain } from "../patterns/plain.ts";

/** What may stand before the point of a sentence. */
export const LEAD = String.raw`^(?:(?:ok|okay|right|so|and|but|now|well|good|great|hi|hello|hey|hola|dear \w+|good (?:morning|afternoon|evening)|morning|(?:quick |short )?update|status|meanwhile|today|tonight|this (?:week|morning|afternoon|evening|month)|at the moment|right now|as of now|btw|by the way|fyi|anyway|also|first|basically|for now|all|everyone|team|then|please|yeah|yes|no|thx|thanks|fine|real work|in progress|since \w+)(?:[,.:;!]+| -)? )*`;

const AT_WORK = String.raw`(?:now|currently|still|just|already|busy|right now|actively|also|mostly|basically|presently|slowly|at the moment|here|all|both|again|finally|mainly|really|today)`;

/** Somebody is at it right now. */
const WORKING = expression(
  "plan:working",
  `${LEAD}(?:${[
    String.raw`(?:i|we|were) ?(?:am|are)? (?:${AT_WORK} )*(?:in the (?:middle|process) of|half-?way\b|(?:almost|nearly|about half|two thirds) (?:done|finished|through)\b|knee-?deep)`,
    String.raw`(?:i am|we are|were) (?:${AT_WORK} )*(?:[a-z]{2,}ing\b|on (?:it|this|that|the|a|my|our)\b|at (?:it|the)\b|busy\b|since .{1,30}? (?:on|at|with)\b|back (?:on|at|to)\b)`,
    String.raw`(?:i|we) have (?:${AT_WORK} )*been (?:${AT_WORK} )*[a-z]{2,}ing\b`,
    String.raw`${AT_WORK}[,:]? (?:busy )?[a-z]{3,}ing\b`,
    String.raw`(?:working|hacking|busy|continuing|carrying on|going on|plugging away) (?:on|at|with|through)\b`,
    String.raw`trying to (?!remember|understand|say|imagine)[a-z]+|in progress[:,]|ongoing[:,]|wip\b|back (?:on|at|to|with) (?:the|my|our|work)\b|half-?way (?:through|in)`,
    String.raw`(?:(?:i|we) (?:have )?(?:${AT_WORK} )*)?(?:started|begun|began|picked up|resumed|took over) (?:on|with|to|the|a|an|my|our|work|[a-z]+ing)\b`,
    String.raw`(?:i|we) (?:now|currently|presently|right now) (?!use|have|need|know|see|think|get|want|support|can|could|are|is|would|will|only|also|like|love|understand|prefer)[a-z]+ `,
    String.raw`(?:i|we) (?:make|do|write|build|prepare|develop|translate|move|clean|test) (?:now|currently|at the moment|right now) `,
  ].join("|")})`,
);
/** States of mind, waiting and trouble are not work under way. */
const NOT_WORKING = expression(
  "plan:not-working",
  String.raw`^(?:\S+ ){0,5}?(?:going to|wondering|thinking (?:about|of|that|we)|hoping|guessing|assuming|expecting|looking forward|having|getting (?!the |my |our |everything |all |this )|seeing|running (?:into|out|late|low)|missing|waiting|struggling|blocked|stuck|losing|talking about|leaving|kidding|being|feeling|planning (?:to|on)|happening|failing|pending|coming|asking|saying|sorry|using|worrying|doing (?:well|fine|good|great|ok)|going with|starting to (?:think|feel)|not|no longer)\b`,
);

/** "Refactoring the login" without a subject: but "testing takes long" has a verb of its own. */
const GERUND = expression(
  "plan:gerund",
  `${LEAD}(?!(?:nothing|something|anything|everything|during|according|regarding|including|considering|thing|string|going|bring)\\b)[a-z]{3,}ing (?:the|a|an|my|our|this|these|all|some|up|out|through|on|with|from|new|old|\\d+|[a-z]+ (?:to|from|into|for|in|of|on))\\b`,
);
const FINITE = expression(
  "plan:finite",
  String.raw`\b(?:is|are|was|were|takes?|took|fails?|failed|works?|worked|would|will|can|could|does|do|gives?|has|have|needs?|makes?|helps?|seems?|should|costs?|gets?|hangs?|throws?|crash\w*|broke|breaks?|means|requires?|keeps?|did|looks?|sounds?)\b`,
);

/** So far and no further. */
const HALF_DONE = expression(
  "plan:half-done",
  String.raw`\b(?:half|a third|two thirds|three quarters|most|part|some|\d+ ?%|\d+ (?:out )?of (?:the )?\d+)\b.{0,70}\b(?:is|are|has|have)\b.{0,50}\b(?:rest|others?|open|remain\w*|left|so far|still|not yet|missing|to go)\b|\bthe (?:rest|others?) (?:is|are) (?:still )?(?:open|missing|to do|left|to come|not)\b|\b(?:is|are) (?:still |now )?(?:in progress|under ?way|ongoing|half[ -]?(?:done|finished|way|ready)|(?:almost|nearly) (?:done|finished|ready|there|complete)|not (?:done|finished|complete) yet|work in progress)\b|^(?:about )?half of\b.{0,70}\b(?:is|are)\b`,
);

export function saysWorking(said: Plain): boolean {
  if (matches(said, HALF_DONE)) return true;
  if (matches(said, NOT_WORKING)) return false;
  return matches(said, WORKING) || (matches(said, GERUND) && !matches(said, FINITE));
}

const DAY = String.raw`(?:mon|tues|wednes|thurs|fri|satur|sun)day`;
/** Where none of these is, something else is meant: "what is missing is a price" */
const NEXT_WORD =
  /next|to-?do|after|remain|left|still|also|tomorrow|then|first|day\b|to do|rest|later|last|only|follow|once|when|soon|there/;
const NEXT_OPENING = expression(
  "plan:next-opening",
  `^(?:ok(?:ay)?[,.]? |so |and |but |also |then |now |my |the |our |suggested |proposed |as |a |for |what is |step |when .{1,40}, )*(?:${[
    String.raw`next(?: (?:steps?|up|thing|item|task|on (?:my|our|the) list|action))?(?: is| are| would be| will be| for \w+)?(?:[:,]| to\b| (?:i|we) )`,
    String.raw`next (?:steps?|thing|task|item|up|on (?:my|our|the) list) (?:is|are|would|will|on)\b|next(?: up| step) `,
    String.raw`todos?[: ]|to-dos?[: ]|to do[: ]|after (?:that|this)[, ]|afterwards[, ]|up next|later(?: today| on)?[,:]? (?:i|we)\b`,
    String.raw`remaining(?: \w+)?(?: is| are)?[: ]|still (?:open|to do|missing|left)[: ]|left(?: to do)?[: ]|what (?:is (?:left|next|still|missing|open)|rests?|remains?)`,
    String.raw`tomorrow(?: morning| afternoon)?(?:[:,]? (?:i|we|it is|the)\b|: )|plan for (?:tomorrow|later|next|${DAY})|following step|from there(?: on)?,? (?:i|we)\b|after (?:lunch|the break|work|the weekend),? (?:i|we)\b|(?:once|when|as soon as) (?:that|this|it|all that|everything) (?:is|works|runs)\b[^,]{0,30}, |then (?:i|we) (?:will|can|need|have|should|do|must)|then (?:comes|it is)`,
    String.raw`first thing(?: tomorrow| on ${DAY}| in the morning| next week)?|on (?:tomorrow|${DAY})[,:]? (?:i|we)\b|(?:next (?:week|month|${DAY})|this ${DAY})[,:]? (?:i|we)\b`,
    String.raw`only .{1,60} (?:is|are) (?:left|missing|open)|last (?:thing|step) (?:is|to do)`,
  ].join("|")})`,
);
const NEXT_WITHIN = expression(
  "plan:next-within",
  [
    String.raw`\b(?:i|we|you|he|she|they) (?:will|shall|need to|have to|should|must|want to|am going to|are going to|plan to|can)\b.{1,140}\b(?:next|tomorrow|after (?:that|this|lunch)|afterwards|on ${DAY}|next week|first thing)\b`,
    String.raw`\b(?:still|also) (?:need|needs|have|has) to\b|\b(?:remains?|left) to (?:be|do|check|write|test)\b`,
    String.raw`\b(?:the|my|our) next (?:step|thing|task|item)\b.{0,30}\b(?:is|would be|will be)\b`,
    String.raw`\btomorrow (?:i|we) (?!had|was|were|did)[a-z]+|\b(?:is|are|comes?) (?:up )?next[.!]*$|\b(?:is|are) (?:still )?left to\b`,
  ].join("|"),
);
/** A plan without a time: only the end of an answer, or a person, promises something by it. */
const PROMISE = expression(
  "plan:promise",
  String.raw`^(?:ok(?:ay)?[,.!]? |sure[,.!]? |right[,.]? |so |and |then |got it[,.!]? |will do[,.!:-]* |good[,.]? |understood[,.]? |first |now )*(?:(?:i|we) (?:will|am going to|are going to)|let me|on it\b)(?! (?:be (?:here|happy|glad|back|around|off)|let you know|keep you|wait|not\b|know|see|think|say|never|always|probably (?:not|be)|just say|leave you|be in|bed\b|sleep|eat\b|grab|go (?:home|to|out|now)\b|the (?:gym|doctor|dentist)))`,
);
/** A person who says "let me tell you" goes on to tell. */
const LET_ME = expression("plan:let-me", String.raw`^(?:\w+[,.!]? ){0,2}let me\b`);

export type Plan = "explicit" | "promise";

export function saysNext(said: Plain, by: "user" | "assistant"): Plan | undefined {
  if ((matches(said, NEXT_OPENING) || matches(said, NEXT_WITHIN)) && NEXT_WORD.test(said.plain)) return "explicit";
  return matches(said, PROMISE) && !(by === "user" && matches(said, LET_ME)) ? "promise" : undefined;
}
