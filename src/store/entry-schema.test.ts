import { describe, expect, it } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import { validateEntryChanges } from "./entry-schema.ts";
import type { SessionEntry } from "./session-entry.ts";

const minimal: SessionEntry = { sessionId: "s-1", updatedAt: 1 };

function entryWith(more: Record<string, unknown>): SessionEntry {
  return { ...minimal, ...more };
}

function refusedField(before: SessionEntry | undefined, after: SessionEntry): unknown {
  try {
    validateEntryChanges(before, after);
    return undefined;
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "usage" || error.code !== "invalid-entry") throw error;
    return error.data["field"];
  }
}

describe("validateEntryChanges", () => {
  it("accepts valid and unknown fields", () => {
    const entry = entryWith({
      origin: { provider: "telegram", threadId: 7, somethingNew: true },
      skillsSnapshot: { prompt: "", skills: [{ name: "a", since: 2027 }], extra: 1 },
      cliSessionIds: { "claude-cli": "x" },
      fieldOfALaterVersion: { any: ["thing"] },
    });
    expect(refusedField(undefined, entry)).toBeUndefined();
  });

  it.each([
    ["sessionId", ""],
    ["updatedAt", "yesterday"],
    ["inputTokens", -1],
    ["updatedAt", null],
    ["chatType", "dm"],
    ["sendPolicy", "maybe"],
    ["label", "x".repeat(65)],
    ["systemSent", 1],
  ])("names the field %s when it holds %j", (field, value) => {
    expect(refusedField(undefined, entryWith({ [field]: value }))).toBe(field);
    expect(refusedField(minimal, entryWith({ [field]: value }))).toBe(field);
  });

  it("names the place inside a field", () => {
    expect(refusedField(minimal, entryWith({ origin: { from: 5 } }))).toBe("origin.from");
  });

  it("accepts existing values even if they are invalid", () => {
    const foreign = entryWith({ inputTokens: "many", origin: { from: 5 }, updatedAt: "then" });
    expect(refusedField(foreign, { ...foreign, model: "m" })).toBeUndefined();
    expect(refusedField(foreign, { ...foreign, outputTokens: "few" } as unknown as SessionEntry)).toBe("outputTokens");
  });

  it("accepts the removal of a field unless it is required", () => {
    expect(refusedField(entryWith({ model: "m" }), minimal)).toBeUndefined();
    expect(refusedField(minimal, { updatedAt: 1 } as SessionEntry)).toBe("sessionId");
  });
});
