/**
 * How a gateway shows who it is before it is shown the token: it answers a question that only somebody with
 * the same token can answer. Whoever took its port after it had ended would be told the token otherwise, by
 * every page that connects again. The port is a part of the question, so that nobody can pass it on to the
 * gateway on another port. Browsers load this file too.
 */

/** What a question may look like; short, and nothing that could be taken for anything else. */
export const NONCE = /^[0-9a-f]{32,128}$/;

const NONCE_BYTES = 32;

export function makeNonce(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

interface Question {
  token: string;
  port: number;
  nonce: string;
}

export async function answerChallenge({ token, port, nonce }: Question): Promise<string> {
  const text = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", text.encode(token), hmac, false, ["sign"]);
  const signed = await crypto.subtle.sign("HMAC", key, text.encode(`holdfast gateway ${port} ${nonce}`));
  return toHex(new Uint8Array(signed));
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
