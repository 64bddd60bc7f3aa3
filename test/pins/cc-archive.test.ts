/** The output of the commands for the archive of native sessions. docs/cli.md describes them. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CcHome, createCcHome, NUMBER, TEXT } from "../support/cli-home.ts";
import { testSessionId } from "../support/native-home.ts";

let home: CcHome;

beforeAll(async () => {
  home = await createCcHome();
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

describe("holdfast cc archive", () => {
  it("lists what it would copy, copies it and restores it", async () => {
    const due = testSessionId("c");
    const soon = ["archive", "--days", "7"];
    const report = { schema: 1, cleanupPeriodDays: 30, sessions: NUMBER, due: NUMBER, unchanged: 0, failed: [] };
    const planned = await home.cc(...soon, "--dry-run", "--json");
    expect(planned.json()).toEqual({ ...report, dryRun: true, copied: expect.arrayContaining([due]) as string[] });
    const done = await home.cc(...soon, "--json");
    expect(done.json()).toEqual({ ...report, dryRun: false, copied: expect.arrayContaining([due]) as string[] });
    const again = await home.cc(...soon);
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(again.stderr).toMatch(/0 copied, \d unchanged\. Claude Code deletes sessions after 30 days\./);

    const to = home.join("restored");
    const restored = await home.cc("archive", "--restore", "cccccccc-cccc", "--to", to, "--json");
    expect(restored.json()).toEqual({
      schema: 1,
      ok: true,
      sessionId: due,
      files: [join(to, `${due}.jsonl`)],
      redacted: false,
      nativeFolder: TEXT,
    });
  });
});
