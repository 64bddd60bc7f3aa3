/**
 * What a person has already got is not sent again, and nothing that they have not got is dropped:
 * where the two cannot be told apart, a repetition is the lesser harm.
 */
import { fenceAround, findFences } from "./fences.ts";
import { type ReplyPayload, payloadMedia, withContent } from "./payload.ts";

/** Shorter answers count as sent only when they are the same: `ok` is part of almost everything. */
const SHORTEST_PART = 10;

/** Takes away what a messaging tool sent to the same conversation. */
export function withoutToolSent(payload: ReplyPayload, sent: readonly ReplyPayload[]): ReplyPayload {
  const text = payload.text ?? "";
  const known = new Set(sent.flatMap(payloadMedia));
  const media = payloadMedia(payload).filter((ref) => !known.has(ref));
  return withContent(payload, wasSent(text, sent) ? "" : text, media);
}

function wasSent(text: string, sent: readonly ReplyPayload[]): boolean {
  const wanted = comparable(text);
  if (wanted === "") return false;
  return sent.some(({ text: other }) => {
    const got = comparable(other ?? "");
    return got === wanted || (wanted.length >= SHORTEST_PART && got.includes(wanted));
  });
}

/** Without the differences in case and space that agents make when they repeat themselves. */
function comparable(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(/\s+/g, " ").trim();
}

/**
 * Takes away the blocks that streaming has sent, in their order, from the start of what is left. The
 * first block that does not fit ends it, and the rest is sent whole.
 */
export function createStreamedFilter(blocks: readonly ReplyPayload[]): (payload: ReplyPayload) => ReplyPayload {
  const texts = blocks.map(({ text }) => text ?? "").filter((text) => text.trim() !== "");
  const sentMedia = new Set(blocks.flatMap(payloadMedia));
  return (payload) => {
    const text = payload.text ?? "";
    let from = 0;
    for (let block = texts[0]; block !== undefined; block = texts[0]) {
      const end = endOfMatch(text, from, block);
      if (end === undefined) break;
      from = end;
      texts.shift();
    }
    const media = payloadMedia(payload).filter((ref) => !sentMedia.has(ref));
    return withContent(payload, from === 0 ? text : restFrom(text, from), media);
  };
}

/** Where `block` ends when `text` has it at `from`, white space aside. */
function endOfMatch(text: string, from: number, block: string): number | undefined {
  let at = from;
  for (const character of block.replace(/\s+/g, "")) {
    while (at < text.length && isSpace(text.charAt(at))) at += 1;
    if (!text.startsWith(character, at)) return undefined;
    at += character.length;
  }
  return at;
}

function isSpace(character: string): boolean {
  return /\s/.test(character);
}

/** Code whose beginning was sent stays code; its closing line alone is nothing to send. */
function restFrom(text: string, from: number): string {
  const fence = fenceAround(findFences(text), from);
  if (fence === undefined) return text.slice(from).replace(/^\s*\n/, "");
  if (text.slice(from, fence.closeStart).trim() === "") return text.slice(fence.end).replace(/^\s*\n/, "");
  const code = text.slice(Math.max(from, fence.contentStart)).replace(/^\n/, "");
  return `${fence.indent}${fence.marker}${fence.info}\n${code}`;
}
