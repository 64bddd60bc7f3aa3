/**
 * The form in which every store keeps the state of a hand-off: as JSON text of a bounded size. A state is
 * opaque, so that its size is all that a store can see to: one that grows without end would slow down
 * every session of the agent.
 */
import { HoldfastError, errorMessage } from "../base/errors.ts";

/** In bytes of UTF-8. */
const LARGEST_STATE = 1024 * 1024;

/** Refuses what JSON cannot hold and what is too large. */
export function handoffToJson(state: unknown): string {
  const json = stringify(state);
  const bytes = Buffer.byteLength(json);
  if (bytes > LARGEST_STATE) throw tooLarge(bytes);
  return json;
}

/**
 * A text that was damaged comes as it is: whoever looks at a state before believing it refuses a text as it refuses
 * any other that is none, and the states beside it can be read.
 */
export function handoffFromJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function stringify(state: unknown): string {
  try {
    // Not as its type says: a function and a symbol give undefined.
    const json = JSON.stringify(state) as string | undefined;
    if (json !== undefined) return json;
  } catch (error) {
    throw notJson(errorMessage(error), error);
  }
  throw notJson(`it is a ${typeof state}`);
}

function notJson(reason: string, cause?: unknown): HoldfastError {
  return new HoldfastError("usage", "invalid-handoff", `The hand-off cannot be stored as JSON: ${reason}`, {
    hint: "Nothing was changed. The state of a hand-off may hold only what JSON can.",
    cause,
  });
}

function tooLarge(bytes: number): HoldfastError {
  return new HoldfastError(
    "usage",
    "handoff-too-large",
    `The hand-off has ${bytes} bytes; a store keeps up to ${LARGEST_STATE}`,
    {
      hint: "Nothing was changed. Keep fewer or shorter notes in it.",
      data: { bytes, largest: LARGEST_STATE },
    },
  );
}
