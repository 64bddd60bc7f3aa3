/** Errors lose their class on the way between threads: these functions carry it over. */
import { type ErrorKind, HoldfastError, errorMessage } from "../../base/errors.ts";

export interface WireError {
  kind: ErrorKind | undefined;
  code: string;
  message: string;
  hint: string | undefined;
  data: Record<string, unknown>;
}

export function toWire(error: unknown): WireError {
  if (!(error instanceof HoldfastError)) {
    return { kind: undefined, code: "", message: errorMessage(error), hint: undefined, data: {} };
  }
  const { kind, code, message, hint, data } = error;
  return { kind, code, message, hint, data };
}

export function fromWire({ kind, code, message, hint, data }: WireError): Error {
  return kind === undefined ? new Error(message) : new HoldfastError(kind, code, message, { hint, data });
}
