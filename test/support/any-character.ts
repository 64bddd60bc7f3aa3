/** Every Unicode character, for properties of texts. */
import * as fc from "fast-check";

const SURROGATES = 0xd800;
const SURROGATE_COUNT = 0x800;

/** Like the unit "binary" of fast-check, without its table of a million characters, which takes about a second of CPU. */
export const anyCharacter = fc.integer({ min: 0, max: 0x10_ff_ff - SURROGATE_COUNT }).map(
  (number) => String.fromCodePoint(number < SURROGATES ? number : number + SURROGATE_COUNT),
  (text) => {
    const code = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text) throw new Error("not a character");
    return code < SURROGATES ? code : code - SURROGATE_COUNT;
  },
);
