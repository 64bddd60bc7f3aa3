import { describe, expect, it } from "vitest";
import { z } from "zod";
import { plainWords } from "./issue-words.ts";

const say = (schema: z.ZodType, value: unknown): string[] =>
  schema.safeParse(value, { error: plainWords }).error?.issues.map(({ message }) => message) ?? [];

describe("plainWords", () => {
  it.each<[string, z.ZodType, unknown, string]>([
    ["a missing text", z.string(), undefined, "missing (expected text)"],
    ["a number for a text", z.string(), 5, "expected text, found 5"],
    ["a text for a number", z.number(), "x", "expected a number, found text"],
    ["a fraction", z.int(), 1.5, "expected a whole number, found 1.5"],
    ["a list for an object", z.object({}), [], "expected an object, found a list"],
    ["null for a flag", z.boolean(), null, "expected true or false, found null"],
    ["an unknown word", z.enum(["a", "b", "c"]), "d", 'expected one of "a", "b", "c", found other text'],
    ["a missing word", z.enum(["a", "b"]), undefined, 'missing (expected "a" or "b")'],
    ["an empty text", z.string().min(1), "", "expected at least 1 character, found none"],
    ["a long text", z.string().max(2), "abc", "expected at most 2 characters, found 3"],
    ["a small number", z.number().positive(), 0, "expected more than 0, found 0"],
    ["a large number", z.number().max(9), 10, "expected at most 9, found 10"],
    ["a long list", z.array(z.string()).max(1), ["a", "b"], "expected at most 1 item, found 2"],
    ["a wrong form", z.string().regex(/^a$/), "b", "expected text that matches /^a$/"],
    ["a wrong address", z.url(), "b", "expected an address such as https://example.org"],
    ["an odd number", z.number().multipleOf(2), 3, "expected a multiple of 2, found 3"],
    ["an unknown key", z.strictObject({}), { x: 1 }, 'there is no "x"'],
    ["neither of two kinds", z.union([z.string(), z.number()]), true, "expected text or a number, found true"],
    ["neither of two objects", z.union([z.object({ a: z.string() }), z.number()]), {}, "a: missing (expected text)"],
    ["a wrong name", z.record(z.string().max(1), z.number()), { ab: 1 }, "the name is not valid"],
    ["a rule of its own", z.string().refine(() => false), "x", "the value is not valid"],
  ])("describes %s", (_, schema, value, expected) => {
    expect(say(schema, value).join("; ")).toContain(expected);
  });

  it("keeps a schema's own message and never quotes the input", () => {
    expect(say(z.string().regex(/^a$/, "a model is written as provider/model"), "b")).toEqual([
      "a model is written as provider/model",
    ]);
    expect(say(z.union([z.number(), z.enum(["on"])]), "s3cret").join()).not.toContain("s3cret");
  });

  it("never uses zod's words", () => {
    const schemas = [z.string(), z.int(), z.email(), z.iso.datetime(), z.tuple([z.string()]), z.literal(4), z.never()];
    for (const schema of schemas) {
      for (const value of [undefined, null, 1.5, "x", [], {}]) {
        expect(say(schema, value).join()).not.toMatch(/invalid input|received|too (?:big|small)|[<>]=|undefined/i);
      }
    }
  });
});
