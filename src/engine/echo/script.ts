/** Parses the echo engine's script language, described in `docs/echo.md`. */
import { ERROR_KINDS, type ErrorKind, HoldfastError } from "../../base/errors.ts";

export type EchoStep =
  | { do: "tool"; name: string; argument: string }
  | { do: "say"; text: string }
  | { do: "notice"; text: string }
  | { do: "sleep"; ms: number }
  | { do: "tokens"; count: number }
  | { do: "flood"; bytes: number }
  | { do: "fail"; kind: ErrorKind }
  | { do: "hang" };

/** More than any consumer accepts. */
const MAX_FLOOD = 256 * 1024 * 1024;
const MAX_SLEEP_MS = 60 * 60_000;

/** Other lines are only echoed. An invalid step is an error. */
export function readScript(text: string): EchoStep[] {
  return text.split(/\r?\n/).flatMap((line) => readLine(line.trim()) ?? []);
}

function readLine(line: string): EchoStep | undefined {
  if (line === "hang") return { do: "hang" };
  const colon = line.indexOf(":");
  const rest = line.slice(colon + 1).trim();
  switch (line.slice(0, colon)) {
    case "tool": {
      const [name = "", ...more] = rest.split(" ");
      return { do: "tool", name, argument: more.join(" ").trim() };
    }
    case "say":
      return { do: "say", text: rest };
    case "notice":
      return { do: "notice", text: rest };
    case "sleep":
      return { do: "sleep", ms: wholeNumber(line, rest, MAX_SLEEP_MS) };
    case "tokens":
      return { do: "tokens", count: wholeNumber(line, rest, Number.MAX_SAFE_INTEGER) };
    case "flood":
      return { do: "flood", bytes: wholeNumber(line, rest, MAX_FLOOD) };
    case "fail":
      return { do: "fail", kind: errorKind(line, rest) };
    default:
      return undefined;
  }
}

function wholeNumber(line: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  throw notUnderstood(line, `a whole number up to ${max}`);
}

function errorKind(line: string, text: string): ErrorKind {
  if (Object.hasOwn(ERROR_KINDS, text)) return text as ErrorKind;
  throw notUnderstood(line, `one of ${Object.keys(ERROR_KINDS).join(", ")}`);
}

function notUnderstood(line: string, wanted: string): HoldfastError {
  return new HoldfastError("usage", "echo-script", `The echo engine cannot do "${line.slice(0, 100)}".`, {
    hint: `Expected after the colon: ${wanted}. See docs/echo.md.`,
  });
}
