/**
 * Callers get their answer even if another process has the session: two commands, a command and a gateway, two
 * gateways on one home. They mostly wait, so two tests run at a time.
 */
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { readFolderIfPresent } from "../../src/base/files.ts";
import { startCliGateway, type CliResult, runCli, runCliShared } from "../support/cli.ts";
import { createChatHome } from "../support/chat-home.ts";
import { NUMBER, TEXT } from "../support/cli-home.ts";
import { STORE_KINDS } from "../support/agent-home.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";

const KEY = "agent:main:cli:dm:ops";
/** Longer than a command needs to start. */
const BUSY = "sleep:3000";

interface BusyCommand extends AsyncDisposable {
  ended: Promise<CliResult>;
}

/** A command whose turn is running. */
async function startBusy(home: TemporaryFolder, args: readonly string[]): Promise<BusyCommand> {
  const ended = runCli(["agent", "-m", BUSY, "-t", "ops", ...args], { home: home.path });
  await until(async () => (await transcriptsOf(home)).includes(BUSY), "the turn of the other process");
  return { ended, [Symbol.asyncDispose]: async () => void (await ended) };
}

async function transcriptsOf(home: TemporaryFolder): Promise<string> {
  const folder = home.join("agents/main/sessions");
  const names = (await readFolderIfPresent(folder)).map(({ name }) => name).filter((name) => name.endsWith(".jsonl"));
  return (await Promise.all(names.map(async (name) => await readFile(`${folder}/${name}`, "utf8")))).join("");
}

const ask = async (home: TemporaryFolder, message: string, args: readonly string[]): Promise<CliResult> =>
  await runCli(["agent", "-m", message, "-t", "ops", ...args], { home: home.path });

/** While no other command runs, so that none has to wait for it. */
const askShared = async (home: TemporaryFolder, message: string, args: readonly string[]): Promise<CliResult> =>
  await runCliShared(["agent", "-m", message, "-t", "ops", ...args], { home: home.path });

/** Without log lines, which the process that runs a failing turn writes. */
function toldBy({ stderr }: CliResult): string[] {
  return stderr.split("\n").filter((line) => !line.startsWith("{"));
}

/** The whole result of a turn of the echo engine, whichever process ran it. */
const answered = (text: string): Record<string, unknown> => ({
  schema: 1,
  runId: TEXT,
  agentId: "main",
  sessionKey: KEY,
  status: "ok",
  summary: "completed",
  result: {
    payloads: [{ text, mediaUrl: null }],
    meta: {
      durationMs: NUMBER,
      aborted: false,
      outcome: "answered",
      agentMeta: {
        sessionId: TEXT,
        provider: "holdfast",
        model: "echo",
        usage: { input: NUMBER, output: NUMBER, cacheRead: 0, cacheWrite: 0, total: NUMBER },
      },
    },
  },
});

describe.each(STORE_KINDS)("while a command holds the session (%s)", (kind) => {
  it.concurrent("another command gets its answer, its failure or its timeout", async () => {
    await using home = await temporaryFolder();
    await writeFile(home.join("config.json"), JSON.stringify({ store: { kind } }), { mode: 0o600 });
    await using busy = await startBusy(home, ["--local"]);
    const late = await ask(home, "too late", ["--local", "--timeout", "0.1"]);
    expect(late).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("No answer yet") as string });
    const [answer, failure] = await Promise.all([
      ask(home, "hello", ["--local", "--json"]),
      ask(home, "fail:unavailable", ["--local"]),
    ]);
    expect([answer.code, toldBy(answer)]).toEqual([0, [""]]);
    expect(answer.json()).toEqual(answered(expect.stringMatching(/^\[echo\] .*: hello$/) as string));
    expect(await busy.ended).toMatchObject({ code: 0 });
    // The same end as in a separate turn.
    const own = await askShared(home, "fail:unavailable", ["--local"]);
    expect(own.code).not.toBe(0);
    expect(failure).toMatchObject({ code: own.code, stdout: own.stdout });
    expect(toldBy(failure)).toEqual(toldBy(own));
  });
});

it.concurrent("while a command holds the session, every line of a conversation is answered", async () => {
  await using home = await temporaryFolder();
  await using _busy = await startBusy(home, ["--local"]);
  const input = "/status\none\ntwo\n";
  const { code, stdout } = await runCli(["chat", "--local", "--session", KEY], { home: home.path, input });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^session: agent:main:cli:dm:ops\n[^]*message 2 of this window: one\n.*message 3 .*: two\n$/);
});

describe.concurrent.each([
  ["a command beside a gateway", [], ["--local"]],
  ["a gateway beside a command", ["--local"], []],
] as const)("%s", (_who, theirs, ours) => {
  it("delivers the other process's answer", async () => {
    await using home = await temporaryFolder();
    await using _gateway = await startCliGateway(home.path);
    await using _busy = await startBusy(home, theirs);
    const [answer, talk] = await Promise.all([
      ask(home, "hello", [...ours, "--json"]),
      runCli(["chat", "--session", KEY, ...ours], { home: home.path, input: "one\ntwo\n" }),
    ]);
    expect([answer.code, toldBy(answer)]).toEqual([0, [""]]);
    expect(answer.json()).toEqual(answered(expect.stringMatching(/^\[echo\] .*: hello$/) as string));
    expect(talk).toMatchObject({ code: 0, stdout: expect.stringMatching(/^.*: one\n.*: two\n$/) as string });
  });
});

it.concurrent("one of two gateways delivers the other's answer", async () => {
  const clock = createHeldClock();
  await using home = await createChatHome({ gateway: { channels: false, clock }, started: false });
  await home.start({ connected: false });
  const sessionKey = "agent:main:main";
  const first = home.rpc("agent", { message: HELD, sessionKey });
  await until(async () => (await home.transcript(sessionKey).catch(() => [])).length === 1, "the first turn");
  await home.start({ connected: false });
  const second = home.rpc("agent", { message: "hello", sessionKey, idempotencyKey: "once" });
  const { store } = await home.agent();
  await until(async () => (await store.inbox.pending(sessionKey)).length === 2, "the second message");
  clock.release();
  const words = { status: "ok", result: { payloads: [{ text: "[echo] message 2 of this window: hello" }] } };
  expect(await second).toMatchObject(words);
  expect(await first).toMatchObject({ status: "ok" });
  // Also a gateway that started later.
  await home.stop();
  await home.start({ connected: false });
  expect(await home.rpc("agent", { message: "hello", sessionKey, idempotencyKey: "once" })).toMatchObject(words);
});

it.concurrent("a person has the same session with and without the gateway", async () => {
  await using home = await temporaryFolder();
  const channels = { telegram: { default: { agent: "desk", allowFrom: ["*"] }, off: { enabled: false } } };
  const config = { agents: { main: {}, desk: {} }, channels };
  await writeFile(home.join("config.json"), JSON.stringify(config), { mode: 0o600 });
  const local = await askShared(home, "hello", ["--local", "--json"]);
  await using _gateway = await startCliGateway(home.path);
  const distant = await askShared(home, "hello", ["--json"]);
  const person = { agentId: "desk", sessionKey: "agent:desk:telegram:dm:ops", status: "ok" };
  expect([local.json(), distant.json()]).toMatchObject([person, person]);
});
