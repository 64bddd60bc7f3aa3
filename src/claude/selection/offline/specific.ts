/** What only related work shares: a file, a name in the code, an issue. */
import { pathLikeness } from "./paths.ts";
import type { SessionReading } from "./session-reading.ts";
import type { Words } from "./words.ts";
import { printableLine } from "../../../base/text.ts";

export interface Specific {
  /** Each from 0 to 1. */
  file: number;
  name: number;
  code: number;
  /** The most of them. */
  likeness: number;
  reasoning: string;
  /** The session is about another issue of the same tracker. */
  contradicts: boolean;
}

export function specificLikeness(taken: Words, session: SessionReading): Specific {
  const found: Specific = { file: 0, name: 0, code: 0, likeness: 0, reasoning: "", contradicts: false };
  const consider = (what: "file" | "name" | "code", likeness: number, reasoning: string): void => {
    found[what] = Math.max(found[what], likeness);
    if (likeness > found.likeness) Object.assign(found, { likeness, reasoning });
  };
  for (const path of taken.paths) {
    for (const file of session.files) {
      const likeness = pathLikeness(path, file.path);
      if (likeness > 0)
        consider("file", likeness * (0.55 + 0.45 * file.weight), `both touch ${printableLine(file.path, 80)}`);
    }
  }
  for (const identifier of taken.identifiers) {
    if (identifier.length >= 7 && session.identifiers.has(identifier)) consider("name", 0.9, `both name ${identifier}`);
  }
  for (const code of taken.codes) if (session.codes.has(code)) consider("code", 0.95, `both name ${code}`);
  found.contradicts = found.likeness === 0 && [...taken.codes].some((code) => hasSibling(code, session.codes));
  return found;
}

/** Another issue of the same tracker, another code of the same kind: not the same work. */
function hasSibling(code: string, codes: ReadonlySet<string>): boolean {
  const family = code.replace(/[\d.]+.*$/, "");
  return [...codes].some((other) => other !== code && other.replace(/[\d.]+.*$/, "") === family);
}
