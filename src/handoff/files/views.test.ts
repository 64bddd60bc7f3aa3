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
    await using stage = await createHandoffHome(kind);
    const layout = layoutOf(stage);
    await stage.open();
    await stage.open(OTHER, { project: "invoices" });
    await stage.say(WORK);
    const first = await capture(stage);
    stage.fixture.clock.advance(1000);
    await stage.say(["We decided to store invoices as PDF files."], OTHER);
    const second = await capture(stage, OTHER);

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
    await using stage = await createHandoffHome(kind);
    const { root } = layoutOf(stage);
    await stage.open();
    await stage.say(WORK);
    await capture(stage);
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile()).length).toBeGreaterThanOrEqual(4);
    for (const entry of entries) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect(mode, entry.name).toBe(entry.isDirectory() ? 0o700 : 0o600);
    }
    expect(statSync(root).mode & 0o777).toBe(0o700);
  });

  it("contain every note once, however often and by whichever process it is captured", async () => {
    await using stage = await createHandoffHome(kind);
    const layout = layoutOf(stage);
    await stage.open();
    for (const line of WORK) {
      await stage.say([line]);
      await capture(stage);
    }
    const notes = notesIn(layout);
    const other = await stage.another();
    await stage.agent.store.handoffs.delete(KEY);
    await other.capture({ kind: "session", sessionKey: KEY }, "found");
    await other.settled();
    expect(notesIn(layout)).toEqual(notes);
  });

  it("are rewritten when torn or modified, with a log line", async () => {
    await using stage = await createHandoffHome(kind);
    const layout = layoutOf(stage);
    await stage.open();
    await stage.say(WORK);
    const state = await capture(stage);
    const whole = readFileSync(layout.stateFile, "utf8");
    for (const damaged of ["", whole.slice(0, 100), whole.replace("Redis", "Kafka"), "\u0000\u0001", "[]"]) {
      stage.log.length = 0;
      writeFileSync(layout.stateFile, damaged);
      writeFileSync(layout.pendingFile, "{");
      await stage.handoff.recover();
      await stage.handoff.settled();
      expect(readFileSync(layout.stateFile, "utf8"), damaged).toBe(whole);
      expect(read(layout.pendingFile)).toMatchObject({ pending: [{ sessionKey: KEY }] });
      expect(stage.log.join("")).toContain("session-state.json was torn or changed");
    }
    // Nothing of it is ever believed.
    writeFileSync(layout.stateFile, whole.replaceAll("Redis", "Kafka"));
    expect(await stage.handoff.get(KEY)).toEqual(state);
  });

  it("are repaired when the last line of a day is torn", async () => {
    await using stage = await createHandoffHome(kind);
    const layout = layoutOf(stage);
    await stage.open();
    await stage.say(WORK);
    await capture(stage);
    const notes = notesIn(layout);
    const day = join(layout.patternsFolder, readdirSync(layout.patternsFolder)[0] ?? "");
    writeFileSync(day, readFileSync(day, "utf8").slice(0, -20));
    await stage.say(["The release is blocked: the signing key has expired."]);
    await capture(stage);
    expect(new Set(notesIn(layout).map(({ id }) => id))).toEqual(
      new Set([...notes.map(({ id }) => id), ...((await stage.handoff.get(KEY))?.patterns.map(({ id }) => id) ?? [])]),
    );
  });

  it("keep the configured number of earlier states", async () => {
    await using stage = await createHandoffHome(kind, { config: { ...DEFAULT_CONFIG.handoff, keepSnapshots: 2 } });
    const { snapshotsFolder } = layoutOf(stage);
    await stage.open();
    for (const line of WORK) {
      await stage.say([line]);
      await capture(stage);
    }
    const names = readdirSync(snapshotsFolder).sort();
    expect(names).toHaveLength(2);
    expect(read(join(snapshotsFolder, names[1] ?? ""))).toEqual(await stage.handoff.get(KEY));
  });

  it("drop items cleared by a process that died before it updated them", async () => {
    await using stage = await createHandoffHome(kind);
    const { root, patternsFolder, snapshotsFolder } = layoutOf(stage);
    await stage.open();
    await stage.say(WORK);
    await capture(stage);
    const before = [patternsFolder, snapshotsFolder].flatMap((folder) =>
      readdirSync(folder).map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), "utf8") })),
    );
    expect(before.map(({ text }) => text).join("")).toContain("Redis");
    await stage.handoff.clear(KEY);
    await stage.handoff.settled();
    for (const { path, text } of before) writeFileSync(path, text);

    const next = await stage.another();
    await next.recover();
    await next.settled();
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), "utf8")).not.toContain("Redis");
  });

  it("show no pending hand-off once it was offered, and drop cleared items", async () => {
    await using stage = await createHandoffHome(kind);
    const layout = layoutOf(stage);
    await stage.open();
    await stage.open(OTHER);
    await stage.say(["We decided to store invoices as PDF files."], OTHER);
    await capture(stage, OTHER);
    await stage.say(WORK);
    await capture(stage);
    await stage.next();
    const offer = await stage.offer();
    if (offer !== undefined) await stage.handoff.markOffered(offer);
    await stage.handoff.settled();
    expect(
      (read(layout.pendingFile) as { pending: { sessionKey: string }[] }).pending.map(({ sessionKey }) => sessionKey),
    ).toEqual([OTHER]);

    await stage.handoff.clear(KEY);
    await stage.handoff.settled();
    const files = readdirSync(layout.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
    expect(texts).not.toContain("Redis");
    expect(texts).toContain("store invoices as PDF");
    expect(read(layout.stateFile)).toMatchObject({ sessionKey: OTHER });
    await stage.handoff.clear(OTHER);
    await stage.handoff.settled();
    expect(read(layout.stateFile)).toEqual({ version: 2, resumeAvailable: false });
  });

  it("that cannot be written do not fail a capture, and are reported as missing", async () => {
    await using stage = await createHandoffHome(kind);
    const layout = layoutOf(stage);
    writeFileSync(layout.root, "a file where the folder should be");
    await stage.open();
    await stage.say(WORK);
    expect((await capture(stage))?.summary.blockers).toHaveLength(1);
    expect(stage.log.join("")).toContain("the files of the hand-off are not up to date");
    rmSync(layout.root);
    await stage.handoff.recover();
    await stage.handoff.settled();
    expect(existsSync(layout.stateFile)).toBe(true);
  });
});

describe.skipIf(!canMount())("on a full disk", () => {
  it("a capture is stored anyway, and the files are written later", async () => {
    await using disk = await smallDisk(1);
    await using stage = await createHandoffHome("sqlite", { layout: agentLayout(disk.path, "main").handoff });
    const layout = agentLayout(disk.path, "main").handoff;
    const free = await disk.fill();
    await stage.open();
    await stage.say(WORK);
    expect((await capture(stage))?.summary.blockers).toHaveLength(1);
    expect(stage.log.join("")).toContain("disk-full");
    await free();
    await stage.say(["The release is blocked: the signing key has expired."]);
    const state = await capture(stage);
    expect(read(layout.stateFile)).toEqual(state);
  });
});

function layoutOf(stage: HandoffHome): HandoffLayout {
  return agentLayout(stage.fixture.home, "main").handoff;
}

async function capture(stage: HandoffHome, sessionKey: string = KEY): Promise<SessionState | undefined> {
  const state = await stage.handoff.capture({ kind: "session", sessionKey }, "messages");
  await stage.handoff.settled();
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
