/**
 * The address of a value in the configuration: `session.reset.atHour`. A name with a dot in it
 * stands in brackets: `models["openai/gpt-4.1"].alias`.
 */
import { HoldfastError } from "../base/errors.ts";

const SEGMENT = /(?:^|\.)([^.[\]"'\s]+)|\[(?:"([^"]*)"|'([^']*)'|(\d+))\]/y;

export function parseKeyPath(text: string): string[] {
  const segments: string[] = [];
  const pattern = new RegExp(SEGMENT);
  const trimmed = text.trim();
  while (pattern.lastIndex < trimmed.length) {
    const match = pattern.exec(trimmed);
    if (match === null) throw invalidPath(text);
    segments.push(match.slice(1).find((group) => group !== undefined) ?? "");
  }
  if (segments.length === 0) throw invalidPath(text);
  return segments;
}

export function formatKeyPath(segments: readonly PropertyKey[]): string {
  return segments
    .map((segment, index) => {
      if (typeof segment === "number") return `[${segment}]`;
      const name = String(segment);
      if (!/^[^.[\]"'\s]+$/.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join("");
}

function invalidPath(text: string): HoldfastError {
  return new HoldfastError("usage", "invalid-config-key", `Not a configuration key: ${JSON.stringify(text)}`, {
    hint: 'Write it like session.reset.atHour; a name with a dot in brackets: models["openai/gpt-4.1"].alias.',
  });
}
