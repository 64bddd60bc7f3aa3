/**
 * Word lists. Those of bad news are so wherever somebody states them as a fact: weak evidence each, so that a
 * report in words no cue foresaw still has something to weigh. Words are looked up, not searched for: a pattern
 * of hundreds of words takes long to compile.
 */
import { wordSet } from "../word-set.ts";

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
