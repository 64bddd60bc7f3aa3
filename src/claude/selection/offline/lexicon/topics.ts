/**
 * The form of the lexicon. An area is a field of work; a topic in it is a group of words that people
 * use for the same thing or in the same breath. A word may stand in several areas: then it is
 * ambiguous and counts only as far as its surroundings agree. A `~` marks a word that merely hints at
 * its topic. Words are written plainly, separated by commas; the index stems them.
 */
export type Topics = Readonly<Record<string, string>>;
