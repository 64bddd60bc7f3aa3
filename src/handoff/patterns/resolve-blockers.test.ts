/** Which later note resolves which blocker. */
import { describe, expect, it } from "vitest";
import type { PatternNote, PatternType } from "./note.ts";
import { resolveBlockers } from "./resolve-blockers.ts";

function notesOf(...lines: [PatternType, string][]): PatternNote[] {
  return lines.map(([type, content], index) => ({
    type,
    content,
    confidence: 0.9,
    timestamp: "2026-05-04T10:00:00.000Z",
    sourceEntryId: `e${index + 1}`,
  }));
}

function openOf(...lines: [PatternType, string][]): string[] {
  return resolveBlockers(notesOf(...lines))
    .filter((note) => note.type === "blocker" && note.resolved !== true)
    .map((note) => note.content);
}

describe("resolveBlockers", () => {
  it("resolves the blocker that shares its words, and says by which entry", () => {
    const notes = resolveBlockers(
      notesOf(
        ["blocker", "The login page throws a 500"],
        ["blocker", "Replication lag keeps growing on db-2"],
        ["accomplishment", "Fixed the login page"],
      ),
    );
    expect(notes[0]).toMatchObject({ resolved: true, resolvedBy: "e3" });
    expect(notes[1]?.resolved).toBeUndefined();
  });

  it("knows a file or identifier again", () => {
    expect(
      openOf(
        ["blocker", "`auth.spec.ts` fails on CI"],
        ["blocker", "The importer is stuck"],
        ["accomplishment", "auth.spec.ts is green"],
      ),
    ).toEqual(["The importer is stuck"]);
  });

  it("knows the same thing by another name", () => {
    expect(openOf(["blocker", "the pipeline is red"], ["accomplishment", "CI is green again"])).toEqual([]);
  });

  it("takes something unnamed for the newest open blocker nearby", () => {
    expect(
      openOf(
        ["blocker", "The importer is stuck"],
        ["blocker", "Disk is full"],
        ["accomplishment", "that did the trick"],
      ),
    ).toEqual(["The importer is stuck"]);
    const others = Array.from({ length: 12 }, (): [PatternType, string] => ["decision", "We use tabs"]);
    expect(openOf(["blocker", "Disk is full"], ...others, ["accomplishment", "it works now"])).toEqual([
      "Disk is full",
    ]);
  });

  it("leaves open what something else was done about", () => {
    expect(openOf(["blocker", "Disk on db-2 is full"], ["accomplishment", "Wrote the release notes"])).toEqual([
      "Disk on db-2 is full",
    ]);
    expect(openOf(["blocker", "Disk is full"], ["accomplishment", "Submitted!"])).toEqual(["Disk is full"]);
  });

  it("is not fooled by one sentence that says both, nor by what came before", () => {
    const both = "Fixed signup, but now the reset mail is broken";
    const notes = notesOf(["blocker", both], ["accomplishment", both]).map((note) => ({
      ...note,
      sourceEntryId: "e1",
    }));
    expect(resolveBlockers(notes)[0]?.resolved).toBeUndefined();
    expect(openOf(["accomplishment", "Fixed the login page"], ["blocker", "The login page is broken"])).toHaveLength(1);
  });
});
