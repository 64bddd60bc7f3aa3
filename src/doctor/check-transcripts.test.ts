/** Damaged transcripts: findings, repairs, and what doctor does not touch. */
import { appendFile, chmod, readFile, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEY, examine, only, soundHome } from "../../test/support/doctor-checks.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { messageLine, writeLines } from "../../test/support/transcripts.ts";
import { archiveSession } from "../session/archive.ts";

const DAMAGES: [string, (path: string) => Promise<void>][] = [
  ["missing", async (path) => await rm(path)],
  ["empty", async (path) => await truncate(path, 0)],
  ["zeroed", async (path) => await writeFile(path, Buffer.alloc((await stat(path)).size))],
  ["garbage", async (path) => await writeFile(path, Buffer.from([0, 1, 2, 10, 255, 254, 10]))],
  ["cut in half", async (path) => await truncate(path, Math.floor((await stat(path)).size / 2))],
  ["cut after a line", async (path) => await keepLines(path, 0, -1)],
  ["without its header", async (path) => await keepLines(path, 1)],
];

async function keepLines(path: string, start: number, end?: number): Promise<void> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  await writeFile(path, `${lines.slice(start, end).join("\n")}\n`);
}

describe.each(STORE_KINDS)("transcripts on %s", (kind) => {
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

  it("ignores a torn tail while the session is being written", async () => {
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

  it.each(DAMAGES)("reports a transcript that is %s until a person has acknowledged it", async (_what, damage) => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    await damage(path);
    const left = await readFile(path).catch(() => Buffer.alloc(0));

    expect(only(await home.doctor(), "transcripts")).toMatchObject({ severity: "error", key: KEY, path });
    const mended = await home.doctor({ fix: true });
    expect(mended.ok).toBe(false);
    const [, aside] = mended.findings.filter(({ check }) => check === "transcripts");
    expect(await readFile(aside?.path ?? "")).toEqual(left);
    expect(await readFile(path, "utf8")).toContain("Part of this conversation was lost");
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: false, fixed: 0 });

    expect(await home.doctor({ acknowledge: basename(aside?.path ?? "") })).toMatchObject({ ok: true, fixed: 1 });
    expect(await home.doctor()).toMatchObject({ ok: true, findings: [] });
    expect(await readFile(`${aside?.path}.acknowledged`)).toEqual(left);
  });

  it("acknowledges a loss at once", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[1]}.jsonl`);
    await truncate(path, 0);
    expect(await home.doctor({ acknowledge: path })).toMatchObject({ ok: true, fixed: 2 });
    expect(await home.doctor()).toMatchObject({ ok: true, findings: [] });
  });

  it("checks the transcripts of archived sessions too", async () => {
    await using home = await soundHome(kind);
    await home.use(async (agent) => void (await archiveSession(agent, KEY)));
    expect(await home.doctor()).toMatchObject({ ok: true });
    const path = join(home.layout.archiveFolder, `${home.sessionIds[0]}.jsonl`);
    await truncate(path, (await stat(path)).size - 40);
    expect(only(await home.doctor(), "transcripts")).toMatchObject({ path });
    expect(await home.doctor({ acknowledge: "all" })).toMatchObject({ ok: true });
    expect(await home.doctor()).toMatchObject({ ok: true, findings: [] });
  });

  it("ignores a transcript whose creation was interrupted", async () => {
    await using home = await soundHome(kind);
    const names = ["11111111-1111-4111-8111-111111111111.jsonl", "22222222-2222-4222-8222-222222222222.jsonl"];
    const [empty, torn] = names.map((name) => join(home.layout.sessionsFolder, name));
    await writeFile(empty ?? "", "", { mode: 0o600 });
    await writeFile(torn ?? "", '{"type":"sess', { mode: 0o600 });
    const { ok, findings } = await home.doctor();
    expect([ok, findings.filter(({ check }) => check === "transcripts")]).toEqual([true, []]);
  });

  it("reports lines that are gone from the middle, in the archive too, until a person has acknowledged it", async () => {
    await using home = await soundHome(kind);
    await home.use(async (agent) => void (await archiveSession(agent, KEY)));
    const path = join(home.layout.archiveFolder, `${home.sessionIds[0]}.jsonl`);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    const lost = lines.length - 2;
    await writeFile(path, `${lines.with(lost, "\0".repeat(lines[lost]?.length ?? 0)).join("\n")}\n`);
    const [loss, line] = (await home.doctor()).findings.filter(({ check }) => check === "transcripts");
    expect(loss).toMatchObject({ severity: "error", path, key: KEY });
    expect(line).toMatchObject({ severity: "info", message: expect.stringContaining("NUL bytes") });
    expect(await home.doctor({ acknowledge: "all" })).toMatchObject({ ok: true });
    expect(await home.doctor()).toMatchObject({ ok: true, findings: [] });
    expect(await readFile(path, "utf8")).toContain("Part of this conversation was lost");
  });

  it("lists bad lines", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    const whole = (await readFile(path, "utf8")).trimEnd().split("\n");
    await writeLines(path, [
      ...whole,
      messageLine("00000001", null, "one"),
      "no JSON",
      messageLine("00000001", null, "another"),
      messageLine("00000003", "00000009", "lost"),
      messageLine("00000004", "00000004", "itself"),
      messageLine("00000005", "00000004", "fine"),
      { ...messageLine("00000006", null, "unlinked"), parentId: undefined },
    ]);
    await chmod(path, 0o600);
    const { ok, findings } = await home.doctor();
    expect(ok).toBe(false);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringContaining("some of its lines cannot be read"),
      expect.stringMatching(/^Line 5: invalid JSON/),
      expect.stringMatching(/^Line 6: entry 00000001 has the id of an earlier/),
      expect.stringMatching(/^Line 7: parent 00000009 of entry 00000003 is missing/),
      expect.stringMatching(/^Line 8: entry 00000004 is its own parent/),
      "Line 10: entry without a parentId; it is taken to follow the entry before it. The line is kept as it is",
    ]);
  });
});
