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

  it.each([
    ["the integration tests fail on CI with connection refused", "The CI works again, Bob restarted the database"],
    ["The vendor's sandbox rejects our certificate", "The sandbox accepts the certificate now"],
    ["Still waiting on Priya for the DNS change", "Priya made the DNS change this morning"],
    ["Migration 0042 fails with a foreign key violation", "Fixed the migration, it was a missing index"],
    ["The nightly backup didn't run because the bucket is full", "I emptied the bucket and the backup ran"],
    ["Deploys are blocked by the expired token", "I rotated the token and deploys go through"],
  ])("takes %j to be over with %j", (blocker, done) => {
    expect(openOf(["blocker", blocker], ["accomplishment", done])).toEqual([]);
  });

  it.each([
    ["The export job fails with a timeout", "The import job works now"],
    ["The staging database is down", "The production database is up and healthy"],
    ["The Android build fails", "The iOS build passes now"],
    ["The Linux installer crashes at start", "The Windows installer works fine"],
    ["Invoices are not sent to customers", "Reminders are sent to customers again"],
    ["Migration 0042 fails", "Migration 0043 works"],
    ["We can't deploy until legal approves", "Legal has not answered yet, but the tests pass"],
  ])("leaves %j open after %j", (blocker, done) => {
    expect(openOf(["blocker", blocker], ["accomplishment", done])).toEqual([blocker]);
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

  it("leaves a blocker open if another thing was done", () => {
    expect(openOf(["blocker", "Disk on db-2 is full"], ["accomplishment", "Wrote the release notes"])).toEqual([
      "Disk on db-2 is full",
    ]);
    expect(openOf(["blocker", "Disk is full"], ["accomplishment", "Submitted!"])).toEqual(["Disk is full"]);
  });

  it("ignores a sentence that says both, and earlier reports", () => {
    const both = "Fixed signup, but now the reset mail is broken";
    const notes = notesOf(["blocker", both], ["accomplishment", both]).map((note) => ({
      ...note,
      sourceEntryId: "e1",
    }));
    expect(resolveBlockers(notes)[0]?.resolved).toBeUndefined();
    expect(openOf(["accomplishment", "Fixed the login page"], ["blocker", "The login page is broken"])).toHaveLength(1);
  });
});
