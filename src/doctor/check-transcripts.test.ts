/** Damaged transcripts: what is found and mended, and what is left as it is. */
import { appendFile, chmod, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEY, examine, only, soundHome } from "../../test/support/doctor-checks.ts";
import { STORE_KINDS } from "../../test/support/test-agent.ts";
import { HEADER, messageLine, writeLines } from "../../test/support/transcripts.ts";

describe.each(STORE_KINDS)("doctor looks at transcripts on %s", (kind) => {
  it("sets a torn tail aside", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[1]}.jsonl`);
    const whole = await readFile(path, "utf8");
    await appendFile(path, '{"type":"mess');
    expect(await examine(home, "transcripts")).toMatchObject({
      key: KEY,
      path,
      message: expect.stringContaining("13 bytes"),
    });
    expect(await readFile(path, "utf8")).toBe(whole);
    const names = await readdir(home.layout.sessionsFolder);
    expect(names.filter((name) => name.includes(".torn-"))).toHaveLength(1);
  });

  it("leaves a torn tail alone while somebody writes the session", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[1]}.jsonl`);
    await appendFile(path, '{"type":"mess');
    await home.use(async (agent) => {
      const { acquired } = await agent.store.leases.acquire(KEY, { ttlMs: 600_000 });
      expect(acquired).toBe(true);
      const report = await home.doctor({ fix: true });
      expect(report.findings.filter(({ check }) => check === "transcripts")).toEqual([]);
      expect(await readFile(path, "utf8")).toMatch(/mess$/);
    });
  });

  it("gives an empty transcript its header", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    await writeFile(path, "");
    expect(await examine(home, "transcripts")).toMatchObject({ message: "Has no header" });
    expect(JSON.parse(String(await readFile(path)))).toMatchObject({ type: "session", id: home.sessionIds[0] });
  });

  it("reports a transcript of garbage and leaves it as it is", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    await writeFile(path, Buffer.from([0, 1, 2, 10, 255, 254, 10]));
    const report = await home.doctor({ fix: true });
    expect(only(report, "transcripts").fix).toBeUndefined();
    expect(report.ok).toBe(false);
    expect(await readFile(path)).toEqual(Buffer.from([0, 1, 2, 10, 255, 254, 10]));
  });

  it("reads every line only when asked to, and tells which are wrong", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    await writeLines(path, [
      { ...HEADER, id: home.sessionIds[0] },
      messageLine("00000001", null, "one"),
      "no JSON",
      messageLine("00000001", null, "another"),
      messageLine("00000003", "00000009", "lost"),
      messageLine("00000004", "00000004", "itself"),
      messageLine("00000005", "00000004", "fine"),
    ]);
    await chmod(path, 0o600);
    expect(await home.doctor()).toMatchObject({ ok: true });
    const { ok, findings } = await home.doctor({ deep: true });
    expect(ok).toBe(false);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Line 3: invalid JSON/),
      expect.stringMatching(/^Line 4: entry 00000001 has the id of an earlier/),
      expect.stringMatching(/^Line 5: parent 00000009 of entry 00000003 is missing/),
      expect.stringMatching(/^Line 6: entry 00000004 is its own parent/),
    ]);
  });
});
