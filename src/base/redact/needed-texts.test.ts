import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TABLE } from "./strength.ts";
import { finder, neededTexts } from "./needed-texts.ts";

describe("neededTexts", () => {
  it.each([
    [String.raw`(?:curl|wget|https?)\s-[uU]`, ["curl", "wget", "http"]],
    [String.raw`(\bcookie["']?|\s--cookie)=`, ["cookie", "--cookie"]],
    [String.raw`(?<=\$(?:1|2a)\$)[\w./]{20,300}`, ["$"]],
    [String.raw`EAP (?<=: EAP )(?=")`, [": EAP "]],
    [String.raw`x\x60yz(?!never)(?:maybe)?(?:not){0,2}`, ["yz"]],
    ["a+bc*d|[ef]", ["b", ""]],
    ["密[码碼]|парол[ьяю]", ["密码", "пароль"]],
  ])("finds what %s needs", (expression, texts) => {
    expect(neededTexts(expression)).toEqual(texts);
  });
});

describe("finder", () => {
  const texts = ["secrets", "ordinary"].flatMap((name) =>
    readFileSync(new URL(`../../../test/fixtures/redact/${name}.txt`, import.meta.url), "utf8")
      .split("\n")
      .map((line) => line.replaceAll(/[⟦⟧]/g, "").replaceAll(String.raw`\n`, "\n")),
  );
  const rows = [TABLE.shapes, TABLE.tools, TABLE.tokens].flatMap((table) => Object.values(table));

  it("gives the expression for every text that it matches", () => {
    const sources = [...rows.map((row) => row.replaceAll(" … ", String.raw`\s`)), "парол[ьяю]|密[码碼]|Şifre|pw"];
    for (const source of sources) {
      const [find, expression] = [finder(source, "i"), new RegExp(source, "i")];
      const missed = texts.filter((text) => find(text) === undefined && expression.test(text));
      expect(missed, source).toEqual([]);
    }
  });

  it("finds a needed word at any place, in any case, between any characters", () => {
    const find = finder("pa[sz]sword|пароль|@|ab", "i");
    const anything = fc.string({ unit: "binary" });
    const word = fc.constantFrom("passWORD", "ПАРОЛЬ", "@", "Ab");
    fc.assert(
      fc.property(anything, word, anything, (before, needed, after) => {
        expect(find(before + needed + after)).toBeDefined();
      }),
    );
  });

  it("gives none for most other texts", () => {
    expect(finder("curl|wget", "g")("Fix the webhook handler so that retries keep their order")).toBeUndefined();
  });
});
