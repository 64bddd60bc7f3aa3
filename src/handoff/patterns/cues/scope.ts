/** How people say that the work outgrows what was asked. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";

const AGREED_WORK =
  "ticket|scope|contract|brief|spec|quote|plan|task|request|order|statement of work|sow|deal|issue|offer|budget|proposal|card|story|job";

export const SCOPE_CUES: readonly Cue[] = [
  cue(
    "scope_creep",
    "while-at-it",
    2.8,
    pattern`
      \b(?:while (?:you|we|i) (?:are|'re|am|was) (?:at it|there|in there|on it|here)|since (?:we|you) are (?:in there|
      at it|already|here)|one more thing|another thing|oh and|and also could|also (?:rewrite|
      redo|migrate|throw in)|might as well|throw in (?:a|an|some|the)|could you also|can you also)\b
    `,
  ),
  cue(
    "scope_creep",
    "outgrown",
    2.8,
    pattern`
      \b(?:scope (?:creep|keeps|is growing|has grown|grew|growing)|(?:blow|blows|expand\w*|beyond|
      outside|exceed\w*) (?:of )?(?:the|our|what|this) ?(?:original |agreed |initial )?(?:${AGREED_WORK}|we set out|we agreed|was asked)|
      (?:out of|not in) scope for what|well beyond|was (?:supposed|
      meant) to be (?:a|an|just|only|\d)|originally (?:just|only|a)|only wanted|much bigger|
      bigger than (?:we|planned)|whole (?:platform|series)|another paper|feature creep|(?:small|another|new) quote_ add-?on|
      snowball\w*|balloon(?:ed|ing)|mission creep)\b
    `,
  ),
  cue(
    "scope_creep",
    "never-asked",
    2.4,
    pattern`
      \b(?:was|is|were|are)(?: not| never) (?:\w+ )?(?:part of|in|on|requested|asked|ordered|agreed|planned|mentioned|covered by|included in) ?(?:the |this |our |any |what )?(?:${AGREED_WORK}|for|
      this|it|list|$)|(?:was|were) not (?:requested|asked for|ordered|agreed|planned)\b|\b(?:did|does) not (?:mention|ask for|order|include|cover|ask you)\b|
      \bnever (?:part of|talked about|agreed|asked|ordered|discussed|mentioned|signed up)\b|\bnobody (?:ordered|asked|requested|mentioned)\b|\bnot (?:in|part of) (?:the|this|our) (?:${AGREED_WORK})|
      \b(?:contract|ticket|brief|spec|quote) (?:says|covers|only|was)\b|\bcovers .{1,30} only\b|\bthat is a (?:different|separate|whole new) (?:feature|project|thing|job|topic)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "scope_creep",
    "grew",
    2.4,
    pattern`
      \b(?:started|began|begun)(?: out| off)? (?:as|with) .{3,60}\b(?:now|become|became|is a|ended|turned|grew)\b|\bended up (?:\w+ing)\b|
      \bturn(?:s|ed|ing) into\b|\b(?:has|have) (?:become|grown into|morphed)\b.{0,20}\b(?:full|whole|entire|complete|huge|a)\b|
      \b(?:asked|asking) for (?:a|an|one|only)\b.{3,50}\bnow\b|\b(?:promised|wanted|ordered|agreed (?:to|on)|quoted|planned)\b.{3,60}\b(?:and )?now\b|\boriginal (?:plan|idea|ask|task|request)\b|
      \bnow (?:also |even |suddenly |they |he |she |you |the client |sales )*(?:wants?|asks? for|includes?|touches|expects?)\b|\bwants? (?:it|that|this|them|\w+) (?:in )?(?:as well|too)\b|
      \bkeeps? (?:sneaking|adding|asking for|piling|slipping)\b|\bextras\b|\b(?:slipped|sneaked|snuck|smuggled) (?:a|an|in|another|some)\b|\balong the way\b|\basks for an? (?:entire|whole|complete|additional|extra)\b|\badd-?ons? (?:this|again)\b
    `,
    { despite: ["negated"] },
  ),
];
