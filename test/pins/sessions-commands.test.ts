/** The output of `holdfast sessions`: JSON shapes, sentences, exit codes. docs/cli.md describes it. */
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createCliHome } from "../support/cli-home.ts";
import { openStore } from "../support/stores.ts";
import { runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/) as string;
const TIME = expect.any(Number) as number;

describe("holdfast sessions", () => {
  it("prints OpenClaw's shape with --json", async () => {
    await using home = await createCliHome();
    const { code, json } = await runCliShared(["sessions", "--json", "--active", "60"], { home: home.path });
    expect(code).toBe(0);
    expect(json()).toEqual({
      path: home.join("agents/main/agent.sqlite"),
      count: 1,
      total: 1,
      activeMinutes: 60,
      sessions: [
        {
          key: expect.stringMatching(/^agent:main:cli:dm:/) as string,
          kind: "direct",
          updatedAt: TIME,
          ageMs: TIME,
          sessionId: ID,
          systemSent: true,
          abortedLastRun: false,
          inputTokens: TIME,
          outputTokens: TIME,
          totalTokens: TIME,
          model: "echo",
          channel: "web",
          label: "work",
        },
      ],
    });
  });

  it("lists the sessions of every agent with --all-agents", async () => {
    await using home = await createCliHome();
    await runCliShared(["agents", "add", "other"], { home: home.path });
    await runCliShared(["chat", "--local", "--agent", "other"], { home: home.path, input: "hi\n" });
    await mkdir(home.join("agents/silent"));
    const { json } = await runCliShared(["sessions", "--all-agents", "--json"], { home: home.path });
    expect(json()).toMatchObject({
      path: "(multiple)",
      count: 2,
      sessions: [{ agentId: "other" }, { agentId: "main" }],
    });
  });

  it("let the agent save its memory before a reset, and delete pending messages with the session", async () => {
    await using home = await createCliHome();
    const { json } = await runCliShared(["sessions", "--json"], { home: home.path });
    const { key = "", sessionId = "" } =
      (json() as { sessions: { key: string; sessionId: string }[] }).sessions[0] ?? {};
    expect((await runCliShared(["sessions", "reset", key], { home: home.path })).code).toBe(0);
    const { stdout } = await runCliShared(["history", sessionId, "--all"], { home: home.path });
    expect(stdout).toMatch(/ memory +This conversation is about to end/);

    const store = await openStore("sqlite", { home: home.path });
    const events = store.systemEvents;
    await events.enqueueSystemEvent(key, "rain");
    await events.enqueueSystemEvent("agent:main:main", "snow");
    expect((await runCliShared(["sessions", "delete", key, "--yes"], { home: home.path })).code).toBe(0);
    const claim = { id: "t", epoch: 1 };
    expect((await events.drainSystemEvents(key, claim)).events).toEqual([]);
    expect((await events.drainSystemEvents("agent:main:main", claim)).events).toHaveLength(1);
    await store.close();
  });

  it.each([true, false])("delete removes hand-offs too; offered: %s", async (isOn) => {
    await using home = await temporaryFolder();
    const run = async (...args: string[]) => await runCliShared(args, { home: home.path });
    const words = "I'm blocked: the release fails with a missing certificate.";
    await runCliShared(["chat", "--local"], { home: home.path, input: `${words}\n/label x\n` });
    expect((await run("handoff", "capture", "--session", "x")).code).toBe(0);
    const files = async (): Promise<string[]> => {
      const names = await readdir(home.join("agents/main/handoff"), { recursive: true });
      const paths = names
        .filter((name) => /\.jsonl?$/.test(name))
        .map((name) => home.join("agents/main/handoff", name));
      const texts = await Promise.all(paths.map(async (path) => await readFile(path, "utf8")));
      return paths.filter((_path, index) => texts[index]?.includes("certificate"));
    };
    expect((await files()).length).toBeGreaterThanOrEqual(3);
    if (!isOn) await run("config", "set", "handoff.enabled", "false");
    expect((await run("sessions", "delete", "x", "--yes")).code).toBe(0);
    expect(await files()).toEqual([]);
    expect((await run("handoff", "list", "--json")).json()).toMatchObject({ total: 0 });
  });

  it.each(["thinkingLevel=much", "verboseLevel=5", "queueMode=later"])("patch refuses %s", async (assignment) => {
    await using home = await temporaryFolder();
    const run = async (...args: string[]) => await runCliShared(args, { home: home.path });
    await runCliShared(["chat", "--local"], { home: home.path, input: "hello\n/label x\n" });
    const { code, stderr } = await run("sessions", "patch", "x", assignment);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Give one of \w+, \w+.*\. Nothing was changed\./);
  });

  it("patch records a change of project", async () => {
    await using home = await temporaryFolder();
    const run = async (...args: string[]) => await runCliShared(args, { home: home.path });
    await runCliShared(["chat", "--local"], { home: home.path, input: "hello\n/label x\n" });
    for (const project of ["invoices", "invoices", "website"]) {
      expect((await run("sessions", "patch", "x", `project=${project}`)).code).toBe(0);
    }
    const { entries } = (await run("sessions", "export", "x", "--json")).json() as {
      entries: { customType?: string; data?: object }[];
    };
    const marks = entries.flatMap(({ customType, data }) => (customType === "holdfast.project" ? [data] : []));
    expect(marks).toMatchObject([
      { before: "main", project: "invoices" },
      { before: "invoices", project: "website" },
    ]);
  });

  it("prints windows and untitled sessions in words, and refuses to delete the main session before it asks", async () => {
    await using home = await temporaryFolder();
    const run = async (...args: string[]) => await runCliShared(args, { home: home.path });
    await runCliShared(["chat", "--local", "--session", "main"], { home: home.path, input: "hello\n/new\n" });
    expect((await run("sessions", "show", "main")).stdout).toMatch(/ first {2,}\d.* by \/new {2,}open /s);
    expect((await run("sessions")).stdout).toMatch(/^agent:main:main .* -$/m);
    const refused = await run("sessions", "delete", "main");
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Cannot delete the main session") as string,
    });
  });

  it("reads an OpenClaw file in place with --store", async () => {
    await using home = await temporaryFolder();
    const store = new URL("../fixtures/openclaw/v2026.1.30/sessions.json", import.meta.url);
    await writeFile(home.join("sessions.json"), await readFile(store));
    const { json } = await runCliShared(["sessions", "--json", "--store", "sessions.json"], { home: home.path });
    expect(json()).toMatchObject({
      count: 1,
      sessions: [{ key: "agent:main:main", sessionId: "b083ce80-7643-4db8-b061-b135059208d6", totalTokens: 1208 }],
    });
  });

  it("shows, patches, resets, compacts, archives, restores and deletes, with JSON each", async () => {
    await using home = await createCliHome();
    const run = async (...args: string[]) => {
      const result = await runCliShared(["sessions", ...args, "--json"], { home: home.path });
      expect(result).toMatchObject({ code: 0 });
      return result.json();
    };
    expect(await run("show", "work")).toMatchObject({
      agentId: "main",
      entry: { label: "work" },
      windows: [
        { sessionId: ID, reason: "initial", openedAt: TIME, closedAt: TIME },
        { sessionId: ID, reason: "command", openedAt: TIME },
      ],
    });
    expect(await run("patch", "work", "thinkingLevel=high", "--unset", "label")).toMatchObject({
      ok: true,
      entry: { thinkingLevel: "high" },
    });
    const { sessions } = (await run()) as { sessions: { key: string; sessionId: string }[] };
    const key = sessions[0]?.key ?? "";
    expect(await run("reset", key)).toMatchObject({ ok: true, key, previousSessionId: sessions[0]?.sessionId });
    expect(await run("compact", key)).toMatchObject({ ok: true, key, compacted: false });
    expect(await run("restore", sessions[0]?.sessionId ?? "")).toMatchObject({
      ok: true,
      entry: { sessionId: sessions[0]?.sessionId },
    });
    const archived = (await run("archive", key)) as { archive: string };
    expect(await run("restore")).toMatchObject({
      count: 1,
      archives: [{ id: archived.archive, key, reason: "archived" }],
    });
    await writeFile(home.join("agents/main/sessions/archive/damaged.json"), "{");
    const partly = await runCliShared(["sessions", "restore", "--json"], { home: home.path });
    expect(partly).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("cannot read the archive manifest") as string,
    });
    expect(partly.json()).toMatchObject({ count: 1 });
    expect(await run("restore", archived.archive)).toMatchObject({ ok: true, key });
    expect(await run("delete", key, "--yes")).toMatchObject({ ok: true, key, deleted: true });
    expect(await run()).toMatchObject({ count: 0, sessions: [] });
  });

  it("exports a conversation without its secrets", async () => {
    await using home = await temporaryFolder();
    const secret = `sk-ant-${"a1".repeat(20)}`;
    await runCliShared(["chat", "--local"], { home: home.path, input: `my key is ${secret}\n/label x\n` });
    for (const format of ["md", "jsonl", "json"]) {
      const { code, stdout } = await runCliShared(["sessions", "export", "x", "--format", format], { home: home.path });
      expect(code).toBe(0);
      expect(stdout).toContain("my key is sk-ant-[redacted]");
      expect(stdout).not.toContain(secret);
    }
    const asJson = await runCliShared(["sessions", "export", "x", "--json"], { home: home.path });
    expect(asJson.json()).toMatchObject({ entries: [{ type: "custom" }, { type: "message" }, { type: "message" }] });
    await runCliShared(["sessions", "export", "x", "--json", "--output", "x.json"], { home: home.path });
    expect(await readFile(home.join("x.json"), "utf8")).toBe(asJson.stdout);
    const plain = await runCliShared(["sessions", "export", "x", "--no-redact"], { home: home.path });
    expect(plain.stdout).toContain(secret);
  });
});
