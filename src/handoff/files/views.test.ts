/** The files for people and other tools: their content, their permissions, and the repair of damaged ones. */
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HandoffHome, KEY, WORK, createHandoffHome } from "../../../test/support/handoff-home.ts";
import { canMount, smallDisk } from "../../../test/support/temp-folder.ts";
import { STORE_KINDS } from "../../../test/support/agent-home.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { type HandoffLayout, agentLayout } from "../../config/layout.ts";
import type { SessionState } from "../state.ts";

const OTHER = "agent:main:telegram:dm:2";

describe.each(STORE_KINDS)("the files of the hand-off on %s", (kind) => {
  it("contain the newest state, pending hand-offs, notes and earlier states", async () => {
    await using home = await createHandoffHome(kind);
    const layout = layoutOf(home);
    await home.open();
    await home.open(OTHER, { project: "invoices" });
    await home.say(WORK);
    const first = await capture(home);
    home.fixture.clock.advance(1000);
    await home.say(["We decided to store invoices as PDF files."], OTHER);
    const second = await capture(home, OTHER);

    expect(read(layout.stateFile)).toEqual(second);
    expect(read(layout.pendingFile)).toMatchObject({
      version: 1,
      pending: [
        { sessionKey: OTHER, project: "invoices", previousSessionId: second?.previousSessionId },
        { sessionKey: KEY, project: "webhooks", nextStep: first?.summary.nextStep },
      ],
    });
    const names = readdirSync(layout.snapshotsFolder);
    expect(names.every((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.json$/.test(name))).toBe(true);
    expect(names.map((name) => read(join(layout.snapshotsFolder, name)))).toEqual([first, second]);
    const [day, ...others] = readdirSync(layout.patternsFolder);
    expect(others).toEqual([]);
    expect(day).toMatch(/^2026-11-1\d\.jsonl$/);
    expect(notesIn(layout)).toEqual([
      ...(first?.patterns ?? []).map((note) => ({ sessionKey: KEY, sessionId: first?.previousSessionId, ...note })),
      ...(second?.patterns ?? []).map((note) => ({ sessionKey: OTHER, sessionId: second?.previousSessionId, ...note })),
    ]);
  });

  it("are private", async () => {
    await using home = await createHandoffHome(kind);
    const { root } = layoutOf(home);
    await home.open();
    await home.say(WORK);
    await capture(home);
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile()).length).toBeGreaterThanOrEqual(4);
    for (const entry of entries) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect(mode, entry.name).toBe(entry.isDirectory() ? 0o700 : 0o600);
    }
    expect(statSync(root).mode & 0o777).toBe(0o700);
  });

  it("contain every note once, however often and by whichever process it is captured", async () => {
    await using home = await createHandoffHome(kind);
    const layout = layoutOf(home);
    await home.open();
    for (const line of WORK) {
      await home.say([line]);
      await capture(home);
    }
    const notes = notesIn(layout);
    const other = await home.another();
    await home.agent.store.handoffs.delete(KEY);
    await other.capture({ kind: "session", sessionKey: KEY }, "found");
    await other.settled();
    expect(notesIn(layout)).toEqual(notes);
  });

  it("are rewritten when torn or modified, with a log line", async () => {
    await using home = await createHandoffHome(kind);
    const layout = layoutOf(home);
    await home.open();
    await home.say(WORK);
    const state = await capture(home);
    const whole = readFileSync(layout.stateFile, "utf8");
    for (const damaged of ["", whole.slice(0, 100), whole.replace("Redis", "Kafka"), "\u0000\u0001", "[]"]) {
      home.log.length = 0;
      writeFileSync(layout.stateFile, damaged);
      writeFileSync(layout.pendingFile, "{");
      await home.handoff.recover();
      await home.handoff.settled();
      expect(readFileSync(layout.stateFile, "utf8"), damaged).toBe(whole);
      expect(read(layout.pendingFile)).toMatchObject({ pending: [{ sessionKey: KEY }] });
      expect(home.log.join("")).toContain("session-state.json was torn or changed");
    }
    // Nothing of it is ever believed.
    writeFileSync(layout.stateFile, whole.replaceAll("Redis", "Kafka"));
    expect(await home.handoff.get(KEY)).toEqual(state);
  });

  it("are repaired when the last line of a day is torn", async () => {
    await using home = await createHandoffHome(kind);
    const layout = layoutOf(home);
    await home.open();
    await home.say(WORK);
    await capture(home);
    const notes = notesIn(layout);
    const day = join(layout.patternsFolder, readdirSync(layout.patternsFolder)[0] ?? "");
    writeFileSync(day, readFileSync(day, "utf8").slice(0, -20));
    await home.say(["The release is blocked: the signing key has expired."]);
    await capture(home);
    expect(new Set(notesIn(layout).map(({ id }) => id))).toEqual(
      new Set([...notes.map(({ id }) => id), ...((await home.handoff.get(KEY))?.patterns.map(({ id }) => id) ?? [])]),
    );
  });

  it("keep the configured number of earlier states", async () => {
    await using home = await createHandoffHome(kind, { config: { ...DEFAULT_CONFIG.handoff, keepSnapshots: 2 } });
    const { snapshotsFolder } = layoutOf(home);
    await home.open();
    for (const line of WORK) {
      await home.say([line]);
      await capture(home);
    }
    const names = readdirSync(snapshotsFolder).sort();
    expect(names).toHaveLength(2);
    expect(read(join(snapshotsFolder, names[1] ?? ""))).toEqual(await home.handoff.get(KEY));
  });

  it("drop items cleared by a process that died before it updated them", async () => {
    await using home = await createHandoffHome(kind);
    const { root, patternsFolder, snapshotsFolder } = layoutOf(home);
    await home.open();
    await home.say(WORK);
    await capture(home);
    const before = [patternsFolder, snapshotsFolder].flatMap((folder) =>
      readdirSync(folder).map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), "utf8") })),
    );
    expect(before.map(({ text }) => text).join("")).toContain("Redis");
    await home.handoff.clear(KEY);
    await home.handoff.settled();
    for (const { path, text } of before) writeFileSync(path, text);

    const next = await home.another();
    await next.recover();
    await next.settled();
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), "utf8")).not.toContain("Redis");
  });

  it("show no pending hand-off once it was offered, and drop cleared items", async () => {
    await using home = await createHandoffHome(kind);
    const layout = layoutOf(home);
    await home.open();
    await home.open(OTHER);
    await home.say(["We decided to store invoices as PDF files."], OTHER);
    await capture(home, OTHER);
    await home.say(WORK);
    await capture(home);
    await home.next();
    const offer = await home.offer();
    if (offer !== undefined) await home.handoff.markOffered(offer);
    await home.handoff.settled();
    expect(
      (read(layout.pendingFile) as { pending: { sessionKey: string }[] }).pending.map(({ sessionKey }) => sessionKey),
    ).toEqual([OTHER]);

    await home.handoff.clear(KEY);
    await home.handoff.settled();
    const files = readdirSync(layout.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
    expect(texts).not.toContain("Redis");
    expect(texts).toContain("store invoices as PDF");
    expect(read(layout.stateFile)).toMatchObject({ sessionKey: OTHER });
    await home.handoff.clear(OTHER);
    await home.handoff.settled();
    expect(read(layout.stateFile)).toEqual({ version: 2, resumeAvailable: false });
  });

  it("that cannot be written do not fail a capture, and are reported as missing", async () => {
    await using home = await createHandoffHome(kind);
    const layout = layoutOf(home);
    writeFileSync(layout.root, "a file where the folder should be");
    await home.open();
    await home.say(WORK);
    expect((await capture(home))?.summary.blockers).toHaveLength(1);
    expect(home.log.join("")).toContain("the files of the hand-off are not up to date");
    rmSync(layout.root);
    await home.handoff.recover();
    await home.handoff.settled();
    expect(existsSync(layout.stateFile)).toBe(true);
  });
});

describe.skipIf(!canMount())("on a full disk", () => {
  it("a capture is stored anyway, and the files are written later", async () => {
    await using disk = await smallDisk(1);
    await using home = await createHandoffHome("sqlite", { layout: agentLayout(disk.path, "main").handoff });
    const layout = agentLayout(disk.path, "main").handoff;
    const free = await disk.fill();
    await home.open();
    await home.say(WORK);
    expect((await capture(home))?.summary.blockers).toHaveLength(1);
    expect(home.log.join("")).toContain("disk-full");
    await free();
    await home.say(["The release is blocked: the signing key has expired."]);
    const state = await capture(home);
    expect(read(layout.stateFile)).toEqual(state);
  });
});

function layoutOf(home: HandoffHome): HandoffLayout {
  return agentLayout(home.fixture.home, "main").handoff;
}

async function capture(home: HandoffHome, sessionKey: string = KEY): Promise<SessionState | undefined> {
  const state = await home.handoff.capture({ kind: "session", sessionKey }, "messages");
  await home.handoff.settled();
  return state;
}

function read(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

function notesIn({ patternsFolder }: HandoffLayout): { id: string }[] {
  const texts = readdirSync(patternsFolder).map((name) => readFileSync(join(patternsFolder, name), "utf8"));
  const lines = texts.flatMap((text) => text.split("\n").filter((line) => line !== ""));
  return lines.map((line) => JSON.parse(line) as { id: string });
}
