/**
 * Reads and parses what clients send, within limits. The body is read from Node's stream, because a chunked
 * body announces no length. The server's `requestTimeout` limits the time.
 */
import type { IncomingMessage } from "node:http";
import { HoldfastError } from "../base/errors.ts";

/** A chunked body announces no length. */
export function checkAnnouncedLength(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
}

/**
 * Rejects with `body-too-large` once more than `maxBytes` have arrived. The stream stays open, so that the
 * client gets its answer while it still sends; the server discards the rest for a moment, then hangs up.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  checkAnnouncedLength(request, maxBytes);
  const body = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > maxBytes) body.reject(bodyTooLarge(maxBytes));
  };
  const onEnd = (): void => body.resolve(Buffer.concat(chunks));
  const onBreak = (error?: Error): void => body.reject(brokenOff(error));
  request.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak);
  // An ended or destroyed stream emits nothing more.
  if (request.readableEnded) onEnd();
  else if (request.destroyed) onBreak();
  try {
    return new TextDecoder().decode(await body.promise);
  } finally {
    request.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
  }
}

function bodyTooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "body-too-large", `A request can have at most ${maxBytes} bytes`, {
    hint: "Send less, or raise gateway.maxBodyBytes in the configuration.",
    data: { maxBytes },
  });
}

/** The client hung up; not an error of the gateway, so it is not logged. */
function brokenOff(cause: Error | undefined): HoldfastError {
  return new HoldfastError("interrupted", "request-broken-off", "The request ended early", {
    hint: "Send it again.",
    cause,
  });
}

const MAX_DEPTH = 32;
const FORBIDDEN_NAMES = new Set(["__proto__", "constructor", "prototype"]);

/** Refuses deep nesting before parsing, and names that would reach an object's prototype. */
export function parseBoundedJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new HoldfastError("usage", "json-too-deep", `JSON can be nested at most ${MAX_DEPTH} levels deep`, {
      hint: "No method needs more.",
    });
  }
  const value = parse(text);
  refuseForbiddenNames(value);
  return value;
}

/** Scans the text without recursion. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain a secret.
    throw new HoldfastError("usage", "json-invalid", "The request is not valid JSON", {
      hint: "Send one JSON object, encoded in UTF-8.",
    });
  }
}

function refuseForbiddenNames(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && FORBIDDEN_NAMES.has(name)) {
      throw new HoldfastError("usage", "json-name-forbidden", `JSON must not contain the name ${name}`, {
        hint: "Remove it.",
      });
    }
    refuseForbiddenNames(inner);
  }
}
