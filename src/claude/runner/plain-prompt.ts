/**
 * Words of somebody else on their way into a prompt. Claude Code reads `@path` in a prompt as a wish to
 * see that file, wherever on the machine it is and without asking, and `/word` at its beginning as a
 * command, which may change its settings. Here both become text: a character that nobody sees parts the
 * sign from what follows.
 */

/** WORD JOINER: neither space nor part of a name. */
const APART = "\u2060";

/** Addresses stay as they are: within a word the sign means nothing. */
const MENTION = /(?<![A-Za-z0-9._+-])@(?=[^\s\u2060])|@(?=[^\sA-Za-z0-9\u2060])/g;

export function withoutMentions(text: string): string {
  return text.replace(MENTION, `@${APART}`);
}

/** For a text that begins a prompt. */
export function withoutCommand(text: string): string {
  return text.trimStart().startsWith("/") ? `${APART}${text.trimStart()}` : text;
}
