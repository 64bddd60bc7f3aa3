/**
 * Word lists. The news words are bad or good news wherever somebody states them as a fact: weak evidence
 * each, so that a report in words no cue foresaw still has something to weigh. Words are looked up, not
 * searched for: a pattern of hundreds of words takes long to compile.
 */

/** What people do when they get something done, in the past tense. */
export const DONE_VERBS = wordSet(`
  achieved added adjusted analysed analyzed annotated answered applied archived assembled automated backfilled
  benchmarked booked bought built bumped calibrated canceled cancelled cataloged checked cleaned cleared closed aligned assembled countersigned crossed flashed reworked struck survived swapped placed
  handed mended ported soldered graded archived purged decommissioned memorised memorized typeset fitted seeded
  parsed scanned digitised digitized hardened containerised sanitised sanitized vectorised normalised normalized
  collected committed compiled completed configured confirmed connected consolidated converted corrected cracked
  created cut deduped deduplicated deleted delivered deployed designed documented doubled drafted drained drew
  earned edited eliminated emailed enabled entered expanded exported extracted filed finished fixed formatted
  gathered generated halved handed hired hooked implemented imported improved installed integrated introduced
  knocked labeled labelled landed launched linked linted loaded lowered mailed mapped marked merged migrated
  mounted moved nailed negotiated onboarded optimised optimized ordered organised organized outlined paid
  painted passed patched planted plugged polished ported posted prepared presented printed proofread provisioned
  published purchased pushed raised reached rebased rebooted rebuilt received reconciled recorded recovered
  reduced refactored refunded registered released removed renamed renewed reorganised reorganized repaired
  replaced replicated reproduced reset resolved restarted restored reverted reviewed revised rewritten rewrote
  rolled rotated saved scheduled sealed secured sent shipped shortened signed simplified solved sorted split
  squashed submitted swapped switched tagged taught tested tightened tracked trained transcribed translated
  trimmed tuned unblocked unified unlocked unplugged updated upgraded uploaded validated verified wired won
  wrapped written wrote
`);

export const BAD_NEWS_WORDS = wordSet(`
  banned barely bent blacklisted bleeding bogged bottlenecked choppy clogs collapsing conflicting contradicting crumbling
  crunching deadlocked dented derailed destroyed disconnects dropouts evicted flaking fried garbage ghosted glitches
  hacking hiccups incompatible invalid jams losing lapsed leaked maxed mia misfires misprint moldy nonsense
  overcharged overheats overrun pegged plummeting rattles rejects rusted saturated seized skyrocketing smashed snapped
  spiking stalls starved starving stolen stripped stubborn sued tanking timeouts torn tripped unavailable undeliverable
  underpaid unintelligible unreachable wasted wreck
  absent ailing alarming ambiguous angry annoyed awful awol awry backlogged bankrupt barred behind  bleak
  blocked blurry bogus botched bottleneck brittle bugged buggy bumpy burnt catastrophic chaos chaotic clashing
  clueless confusing congested contradictory corrupted cracked crippled critical cryptic cumbersome damaged
  deadlock deficit defunct delay delays denied depleted detached dire  disagrees disallowed disappointed
  disaster disconnected discontinued disrupted distorted drained drowning dying erratic exhausted exposed faulty
  feud fiasco flooded flooding foggy forbidden fragmented fraudulent furious fuzzy garbled ghosting gibberish
  glitchy grounded hacked halted helpless hopeless horrible hung   illegible impaired impasse inactive
  incomplete inconsistent incorrect inoperable insane intermittent interrupted invisible irritating jittery
  laggy leaking leaky limbo lockout logjam malformed malfunctioning messy misaligned misplaced mispriced
  misprinted mistaken mold mould muted obsolete obstructed opaque orphaned outdated overbooked overdrawn overdue
  overwritten painful painfully patchy phantom poisoned  quarantined refused rotten ruined sabotaged
  scrambled   sluggish smoking soaked sparks spilled spotty stolen stranded stuttering swamped tangled
  terrible terribly  toxic trapped troubling unacceptable unanswered unauthorized unclear uncooperative
  undefined undelivered underwater undocumented unhappy unhealthy unmaintained unpaid unplayable unpublished
  unreadable unreliable unresolved unsafe unsigned unsolved unsupported untestable unusable unverified unwell
  vulnerable warped wedged weird wobbly wonky worse wrecked zombie
`);

export const BAD_NEWS_PHRASES = [
  String.raw`burned out|off by|on leave|on strike|out sick|torn down|used up|black screen|white screen|grey screen`,
  String.raw`|red herring|dead link|wild goose|into a corner|not a single|only (?:he|she|they|one person) can`,
  String.raw`|neither (?:of them |one )?\w+s\b|over budget|over quota|over the limit|under water|under attack`,
  String.raw`|a pain|short-?handed|hit by|fell ill|called in sick|quit on us|walked out|backed out|pulled out`,
  String.raw`|pulled the plug|shut (?:it )?down|shut us|locks? (?:us|me) out|times? (?:us|me) out|kicks? (?:us|me)`,
  String.raw`|lets? (?:us|me) down|slows? (?:us|me|everything)|slowed to`,
].join("");

export const GOOD_NEWS_WORDS = wordSet(`
  acquitted admitted airtight certified clinched compliant cured decoded deciphered defeated effortlessly enrolled
  faster finalised finalized flawlessly funded graduated healed hooked instantly ironed licensed mastered mended
  overcame patched quicker reimbursed refunded regained reliably repaired rescued resurrected retrieved reunited revived
  seamlessly secured smoother smoothly solid sponsored steady unclogged uncorked untangled vindicated watertight
  accepted accomplished aced achieved acquired approved awarded bug-free celebrating cleared confirmation
  conquered delivered elected error-free flawless granted healthy inked intact milestone obtained operational
  passed perfected polished promoted qualified reconciled recovered reinstated renewed reopened restored
  salvaged sealed signed snappy sold spotless stable submitted succeeded success successful tamed triumph
  unblocked upright validated victory won wrapped
`);

export const GOOD_NEWS_PHRASES = [
  String.raw`awesome news|back below|back above|back on track|back in business|below target|beat the deadline`,
  String.raw`|crossed the finish|done deal|down to (?:zero|one|two|\d+)|first users|great news|happy to report`,
  String.raw`|happy to say|in the can|in good shape|made it|nothing left|none to go|none left|on track|proud to`,
  String.raw`|ready to (?:go|ship|use|roll)|smooth sailing|through to|topped out|under control|up to \d+ ?%`,
  String.raw`|went up to|went down to|are met|is met|is through|are through`,
  String.raw`|every one (?:resolves|passes|works|loads)|all (?:resolve|pass|load|respond|work)|submits now`,
  String.raw`|each (?:one )?passes|as expected|as intended|as it should|like new|reachable again|cut (?:down )?by`,
].join("");

/** The sentence with each verb of getting done written as a run of `D`, as long as the word: `D+` matches it. */
export function tagDoneVerbs(plain: string): string {
  return plain.replace(/[a-z]+/g, (word) => (DONE_VERBS.has(word) ? "D".repeat(word.length) : word));
}

/** Participles that report trouble, plans, opinions or descriptions rather than something done. */
const NOT_A_STEP = wordSet(`
  advanced agreed allowed annoyed asked based bed bleed blocked bored breed broken called canceled cancelled
  changed charged closed complained concerned confused corrupted crashed deactivated decided delayed denied
  designed detailed died disabled discussed distributed dropped embed embedded encrypted ended exceed excited
  exhausted expected experienced expired extended failed feed flagged forced frozen happened hoped hosted
  hundred ignored indeed interested jammed kicked killed learned liked limited listed locked logged looked lost
  loved managed missed mixed moved named need needed nested noticed outdated overloaded planned postponed
  preferred proceed proposed protected queued realised realized recommended red refused rejected related
  required revoked said scared seed seemed shared silenced speed stalled started stayed stopped stuck succeed
  suggested supposed suspended talked thought tired told tried trusted turned typed unexpected unfinished
  unplanned unused unwanted used vetoed waited wanted wished worried
`);

/** Participles without -ed that tick something off. */
const IRREGULAR_STEPS = wordSet(`
  begun bought built cast cut done drawn dug handed hung laid made met mown paid proofread put rebuilt redrawn
  resent rewritten sent sewn shot sold sorted swept taken typeset won written
`);

/** The sentence with each participle that may tick something off written as a run of `S`. */
export function tagSteps(plain: string): string {
  return plain.replace(/[a-z]+/g, (word) =>
    IRREGULAR_STEPS.has(word) || (/^[a-z]{3,}ed$/.test(word) && !NOT_A_STEP.has(word)) ? "S".repeat(word.length) : word,
  );
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}
