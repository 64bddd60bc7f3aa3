/**
 * The two tokens with which an agent says that it has no message for a person. They match only as whole
 * words in capitals, so that similar text is delivered. The web page uses this file too.
 */

export const SILENT_REPLY_TOKEN = "NO_REPLY";
export const HEARTBEAT_TOKEN = "HEARTBEAT_OK";

/** OpenClaw's rule: the token opens the text, or only punctuation follows its last occurrence. */
export function isSilentReplyText(text: string | undefined, token: string = SILENT_REPLY_TOKEN): boolean {
  if (text === undefined || token === "") return false;
  const opening = text.trimStart();
  if (opening.startsWith(token) && !/^[\p{L}\p{N}_]/u.test(opening.slice(token.length))) return true;

  const last = text.lastIndexOf(token);
  if (last === -1 || /[\p{L}\p{N}_]$/u.test(text.slice(Math.max(0, last - 2), last))) return false;
  return !/[\p{L}\p{N}_]/u.test(text.slice(last + token.length));
}

/** Removes the token, with emphasis around it, from both ends. Inside a text it is an ordinary word. */
export function stripHeartbeatToken(text: string): string {
  if (!text.includes(HEARTBEAT_TOKEN)) return text;
  let rest = text;
  for (let before = ""; before !== rest;) {
    before = rest;
    rest = stripEnd(stripStart(rest));
  }
  // The rest of `HEARTBEAT_OK.` is not a message.
  return rest !== text && !/[\p{L}\p{N}\p{S}]/u.test(rest) ? "" : rest;
}

const OPENING_TOKEN = new RegExp(
  `^\\s*(?:<b>|[*_\`]{1,3})?${HEARTBEAT_TOKEN}(?:</b>|[*_\`]{1,3})?(?![\\p{L}\\p{N}_])`,
  "u",
);
const CLOSING_TOKEN = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:<b>|[*_\`]{1,3})?${HEARTBEAT_TOKEN}(?:</b>|[*_\`]{1,3})?$`,
  "u",
);

function stripStart(text: string): string {
  const found = OPENING_TOKEN.exec(text);
  return found === null ? text : text.slice(found[0].length).trimStart();
}

function stripEnd(text: string): string {
  const trimmed = text.trimEnd();
  const found = CLOSING_TOKEN.exec(trimmed.slice(-HEARTBEAT_TOKEN.length - 16));
  return found === null ? text : trimmed.slice(0, -found[0].length).trimEnd();
}
