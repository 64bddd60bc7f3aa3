/** A model's words come behind everything else, stay through later captures, and are never facts of their own. */
import { describe, expect, it } from "vitest";
import { KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import type { LanguageModel, TextRequest } from "../models/language-model.ts";

describe("a model that words the summary", () => {
  it("rewords lines once, and later captures keep its words", async () => {
    const requests: TextRequest[] = [];
    await using stage = await createHandoffHome("sqlite", { model: rewording(requests) });
    await stage.open();
    await stage.say(WORK);
    const plain = await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    await stage.handoff.settled();
    expect(requests).toHaveLength(1);
    const state = await stage.handoff.get(KEY);
    const reworded = state?.items.filter(({ by }) => by === "model") ?? [];
    expect(reworded.length).toBeGreaterThan(0);
    for (const item of reworded) {
      expect(plain?.items).toContainEqual(expect.objectContaining({ text: item.said, entryId: item.entryId }));
    }
    expect(state?.summary.decisions).toEqual(
      state?.items.filter(({ kind }) => kind === "decision").map(({ text }) => text),
    );
    expect(state?.patterns).toEqual(plain?.patterns);

    await stage.say(["The release is blocked: the signing key has expired."]);
    const later = await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    expect(later?.items.filter(({ by }) => by === "model").map(({ text }) => text)).toEqual(
      expect.arrayContaining(reworded.filter(({ kind }) => kind === "decision").map(({ text }) => text)),
    );
  });

  it("that fails changes nothing, and nobody waits for it", async () => {
    const { promise: answer, reject: fail } = Promise.withResolvers<never>();
    const model: LanguageModel = { provider: "test", model: "broken", generateText: async () => await answer };
    await using stage = await createHandoffHome("sqlite", { model });
    await stage.open();
    await stage.say(WORK);
    const state = await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "new");
    await stage.next();
    expect((await stage.offer())?.text).toContain("Redis");
    fail(new Error("no answer"));
    await stage.handoff.settled();
    expect((await stage.handoff.get(KEY))?.items).toEqual(state?.items);
  });
});

/** Answers each line with its own words, shortened. */
function rewording(requests: TextRequest[]): LanguageModel {
  return {
    provider: "test",
    model: "words",
    generateText: async (request) => {
      requests.push(request);
      const lines = Array.from(request.prompt.matchAll(/"id":\s*"([^"]+)"[^}]*?"text":\s*"((?:[^"\\]|\\.)*)"/g));
      const answers = lines.map(([, id, text = ""]) => ({
        id,
        text: text.replace(/^(?:We decided to|Please|Let's) (.)/, "$1"),
      }));
      return await Promise.resolve({ text: JSON.stringify(answers), finish: "stop", usage: {} });
    },
  };
}
