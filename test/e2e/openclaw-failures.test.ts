/**
 * Five ways in which OpenClaw 2026.1.30 lost data or settings, tried on the real command line and on both stores.
 */
import { spawn } from "node:child_process";
import { readFile, readdir, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { openAgent } from "../../src/compose/agent.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { initSessionState } from "../../src/session/init.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { STORE_KINDS } from "../support/agent-home.ts";
import { BIN, runCli, runCliShared } from "../support/cli.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";

describe.each(STORE_KINDS)("on %s", (kind) => {
  const cli = async (home: TemporaryFolder, args: string[], input = "") =>
    await runCliShared(args, { home: home.path, input, env: { HOLDFAST_STORE: kind } });

  it("1. a damaged store is refused and unchanged, never treated as empty", async () => {
    await using home = await temporaryFolder();
    await cli(home, ["chat", "--local"], "hello\n");
    const store = home.join(kind === "json" ? "agents/main/sessions/sessions.json" : "agents/main/agent.sqlite");
    for (const size of [0, 100]) {
      const whole = await readFile(store);
      await truncate(store, size);
      const damaged = await readFile(store);
      for (const args of [
        ["sessions", "--json"],
        ["sessions", "patch", "main", "label=x"],
        ["chat", "--local"],
      ]) {
        const { code, stderr } = await cli(home, args, "again\n");
        expect(code).toBe(1);
        expect(stderr).toContain("holdfast doctor");
      }
      expect(await readFile(store)).toEqual(damaged);
      await writeFile(store, whole);
    }
    expect((await cli(home, ["sessions", "--json"])).json()).toMatchObject({ count: 1 });

    await truncate(store, 0);
    expect((await cli(home, ["doctor", "--fix"])).code).toBe(0);
    expect((await cli(home, ["sessions", "--json"])).json()).toMatchObject({ count: 1 });
    expect((await cli(home, ["history"])).stdout).toContain("hello");
  });

  it("2. compaction keeps the header, and the next turn continues with the kept entries", async () => {
    await using home = await temporaryFolder();
    await cli(home, ["chat", "--local"], "one\ntwo\nthree\n/label c\n");
    const compacted = await cli(home, ["sessions", "compact", "c", "--max-lines", "2", "--json"]);
    expect(compacted.json()).toMatchObject({ compacted: true, kept: 2 });
    const { stdout } = await cli(home, ["chat", "--local"], "four\n");
    expect(stdout).toBe("[echo] message 2 of this window: four\n");
    const history = await cli(home, ["history", "c"]);
    expect(history.stdout).toContain("you      three");
    expect(history.stdout).toContain("you      four");
  });

  it("3. the first message survives kill -9 during its turn, and no lock remains", async () => {
    await using home = await temporaryFolder();
    const next = async (...args: string[]) =>
      await runCli(args, { home: home.path, input: "and this\n", env: { HOLDFAST_STORE: kind } });
    await killWhenSaid(home, kind, "remember this");
    expect((await next("history")).stdout).toContain("you      remember this");
    const { code, stdout } = await next("chat", "--local");
    expect(code).toBe(0);
    expect(stdout).toContain("and this");
    expect((await next("doctor", "--json")).json()).toMatchObject({ ok: true });
  });

  it("4. `main` and `agent:main:main` are one session, also after /new", async () => {
    await using home = await temporaryFolder();
    await writeSession(home.path, kind, "main");
    for (const session of ["main", "agent:main:main", "MAIN"]) {
      await cli(home, ["chat", "--local", "--session", session], "hi\n/new\nhello again\n");
    }
    const { sessions } = (await cli(home, ["sessions", "--json"])).json() as { sessions: { key: string }[] };
    expect(sessions.map(({ key }) => key)).toEqual(["agent:main:main"]);
  });

  it("5. /new keeps the thinking level and the send policy", async () => {
    await using home = await temporaryFolder();
    await cli(home, ["chat", "--local"], "hello\n/label mine\n");
    await cli(home, ["sessions", "patch", "mine", "thinkingLevel=high", "sendPolicy=deny"]);
    await cli(home, ["chat", "--local"], "/new start afresh\n");
    const { json } = await cli(home, ["sessions", "show", "mine", "--json"]);
    expect(json()).toMatchObject({
      entry: { thinkingLevel: "high", sendPolicy: "deny", label: "mine" },
      windows: [{ reason: "initial" }, { reason: "command" }],
    });
  });
});

/** Kills the process as soon as the message is in a transcript. */
async function killWhenSaid(home: TemporaryFolder, kind: string, text: string): Promise<void> {
  const env = { ...process.env, HOLDFAST_HOME: home.path, HOLDFAST_STORE: kind };
  const child = spawn(process.execPath, [BIN, "chat", "--local"], { env, stdio: ["pipe", "ignore", "ignore"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.stdin.write(`${text}\n`);
  const folder = home.join("agents/main/sessions");
  for (let tries = 0; tries < 2000; tries++) {
    const names = await readdir(folder).catch(() => []);
    const contents = await Promise.all(
      names.filter((name) => name.endsWith(".jsonl")).map(async (name) => await readFile(`${folder}/${name}`, "utf8")),
    );
    if (contents.some((content) => content.includes(text))) break;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  child.kill("SIGKILL");
  await ended;
}

async function writeSession(home: string, kind: StoreKind, key: string): Promise<void> {
  const config = { ...DEFAULT_CONFIG, store: { kind, view: true } };
  const agent = await openAgent({ home, config });
  await initSessionState({ agent, ctx: { SessionKey: key, Body: "hello" }, cfg: config });
  await agent.store.close();
}
