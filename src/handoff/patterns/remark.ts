/** Words between two people that say nothing of the work: whatever they would be news of is not in them. */
import { expression, pattern } from "./pattern.ts";
import { type Plain, matches } from "./plain.ts";

const REMARK =
  /^(?:(?:that is |sounds |looks |very |all |ok,? |so )*(?:ok(?:ay)?|good|great|perfect|nice|cool|awesome|excellent|fantastic|wonderful|lovely|fine|right|all right|sure|yes|yep|yeah|no|got it|understood|noted|will do|makes sense|interesting|thanks?|thank you|thx|cheers|please|hi|hello|hey)[\s,.!]*){1,3}$/;
const LONGEST_REMARK = 40;

export function isRemark(said: Plain): boolean {
  return (said.plain.length < LONGEST_REMARK && REMARK.test(said.plain)) || goesOn(said);
}

const GOES_ON = expression(
  "goes-on",
  pattern`^(?:(?:yes|yep|yeah|yup|ok(?:ay)?|sure|great|good|right|so|and|now|then|well|please|pls|hi|hello|hey|morning|
    (?:i am )?back(?: again)?|let us|(?:can|could) (?:you|we)|you can|just|we (?:can|should)|ja|bitte)[\s,.!]+)*
    (?:go (?:on|ahead)|carry on|keep (?:going|at it)|continue|proceed|resume|move on|do (?:it|that|this)|
    pick (?:it |this |things |that )?(?:back )?up(?: again)?(?= (?:from )?where|$)|
    (?:where|what) (?:were|was) (?:we|i|you)(?: (?:at|doing))?|where did we (?:leave off|stop|get to|leave it)|what is next|what now|
    mach(?:en)? (?:wir )?weiter|weiter(?:machen)?|los|continue[rz]?|on continue|vas-y|sigue|sigamos|adelante|continua[r]?)
    (?:[\s,]+(?:then|now|please|pls|from there|there|here|again|bitte|thanks|thank you|
    (?:with|on) (?:it|that|this|the (?:work|task|plan|rest))|(?:from )?where (?:we|you|i) (?:left off|left it|were|stopped)|
    as (?:planned|discussed|before)))*[\s.!?]*$`,
);
const LONGEST_GOING_ON = 80;

/** No more than that it shall go on, or the question where: what was open stays open. */
export function goesOn(said: Plain): boolean {
  return said.plain.length < LONGEST_GOING_ON && matches(said, GOES_ON);
}
