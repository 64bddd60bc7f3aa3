/**
 * What passes between Holdfast and the process of a hook: a request on its stdin, and a line on its stdout
 * that begins with the request's mark, so that what the hook itself prints is not taken for it.
 */
import type { HookEvent } from "./hook.ts";

export interface ProgramRequest {
  /** The handler's module, as a URL. */
  handler: string;
  /** Left out: the handler is loaded and not called. */
  event?: HookEvent;
  mark: string;
}

/** Nobody believes its shape: the hook can write such a line as well. */
export type ProgramAnswer = { added: { messages: unknown; bootstrapFiles: unknown } } | { failed: string };

/** Of all that it prints, answer included. */
export const MAX_PRINTED_CHARACTERS = 1024 * 1024;
