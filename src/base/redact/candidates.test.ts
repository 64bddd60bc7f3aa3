import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../test/support/any-character.ts";
import { expectManyTexts, redactText } from "../redact.ts";
import { createCandidates, neededWords } from "./candidates.ts";
import { ruleExpressions } from "./rules.ts";

describe("neededWords", () => {
  it.each([
    [String.raw`(?:curl|wget|https?)\s-[uU]`, ["curl -u", "curl -U", "wget -u", "wget -U", "http -u"]],
    [String.raw`(\bcookie["']?|\s--cookie)=`, ["cookie=", 'cookie"=', "cookie'=", " --cookie="]],
    [String.raw`(?<=\$(?:1|2a)\$)[\w./]{20,300}`, ["$1$", "$2a$"]],
    [String.raw`x\x60yz(?!never)(?:maybe)?(?:not){0,2}`, ["yz"]],
    ["a+bc*d|[e-g]", ["ab", ""]],
    [String.raw`\d{4,8}(?: is your)`, [" is your"]],
    ["(?:0x)?[0-9a-f]{32,128}", ["\0"]],
    ["密[码碼]|парол[ьяю]", ["密码", "密碼", "пароль"]],
  ])("finds what %s needs", (expression, words) => {
    expect(neededWords(expression)).toEqual(expect.arrayContaining(words));
  });
});

describe("createCandidates", () => {
  const texts = ["secrets", "ordinary"].flatMap((name) =>
    readFileSync(new URL(`../../../test/fixtures/redact/${name}.txt`, import.meta.url), "utf8")
      .split("\n")
      .map((line) => line.replaceAll(/[⟦⟧]/g, "").replaceAll(String.raw`\n`, "\n")),
  );
  it("tries every rule on every text that it matches", () => {
    const expressions = ruleExpressions();
    const find = createCandidates(expressions);
    const found = texts.map((text) => find(text));
    for (const [rule, source] of expressions.entries()) {
      const expression = new RegExp(source, "i");
      const missed = texts.filter((text, at) => found[at]?.[rule] === 0 && expression.test(text));
      expect(missed, source.slice(0, 80)).toEqual([]);
    }
  });

  it("finds a word at any place, in any case, between any characters", () => {
    const find = createCandidates(["pa[sz]sword", "пароль", "@", "ab", "[a-f]{20}"]);
    const anything = fc.string({ unit: anyCharacter });
    const words = fc.constantFrom("passWORD", "ПАРОЛЬ", "@", "Ab", "ABCDEFabcdefABCDEFab");
    fc.assert(
      fc.property(anything, words, anything, (before, word, after) => {
        expect(find(before + word + after)).toContain(1);
      }),
    );
  });

  it("tries few rules on an ordinary text", () => {
    const find = createCandidates(ruleExpressions());
    const found = find("Fix the webhook handler so that retries keep their order, and run src/queue/retry.test.ts");
    expect(found.filter((isCandidate) => isCandidate === 1)).toHaveLength(0);
  });

  it("changes no result", () => {
    const one = texts.map(redactText);
    expectManyTexts();
    expect(texts.map(redactText)).toEqual(one);
  });
});
