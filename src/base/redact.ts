/**
 * Removes what looks like a secret before text is logged, exported, indexed or handed on. Three things give
 * one away: its own shape, the place where it stands (an address, a command, a column), or the words before it.
 *
 * No expression here may begin with a run of any length: tried at every word of a long line, that takes
 * time in the square of its length. And no run is without an end: on one of megabytes the engine's stack
 * overflows, and no secret is so long.
 */
import { redactCards } from "./redact/codes.ts";
import { redactColumns } from "./redact/columns.ts";
import { redactCommands } from "./redact/commands.ts";
import { redactLines } from "./redact/lines.ts";
import { REDACTED } from "./redact/mark.ts";
import { redactNamed } from "./redact/named.ts";
import { redactStoredHashes } from "./redact/stored-hashes.ts";
import { redactAddresses, redactKeyBlocks, redactTokens } from "./redact/tokens.ts";

export function redactText(text: string): string {
  // By their shape first: then a token keeps the prefix that says whose it was.
  const withoutShapes = redactAddresses(redactTokens(redactStoredHashes(redactKeyBlocks(text))));
  return redactNamed(redactColumns(redactLines(redactCommands(redactCards(withoutShapes)))));
}

const SECRET_FIELD =
  /^(?:(?:proxy-?)?authorization|(?:set-?)?cookie|pin|otp|pass|psk|mnemonic|.*[_-]pass|.*(?:token|secret|passw(?:or)?d|pass[_-]?(?:phrase|code)|pwd|(?:api|access|private|secret|account|signing|encryption)[_-]?key|credential)s?)$/i;

/** Redacts every string in a JSON value, and whole fields whose names promise a secret. */
export function redactValue(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== "object" || value === null) return value;
  const namesSecret = "name" in value && typeof value.name === "string" && SECRET_FIELD.test(value.name);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      typeof inner === "string" && (SECRET_FIELD.test(name) || (namesSecret && name === "value"))
        ? REDACTED
        : redactValue(inner),
    ]),
  );
}
