/** `chat` and `agent` through a gateway that they start themselves, on a pipe and in a terminal. */
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processState } from "../../src/base/processes.ts";
import { requireGateway, findGateway } from "../../src/gateway/gateway-files.ts";
import { createHttpCaller } from "../../src/rpc/client.ts";
import {
  type CliGateway,
  startCliGateway,
  runCli,
  runCliShared,
  type WatchedProgram,
  startInTerminal,
  startProgram,
} from "../support/cli.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";

describe("without a gateway", () => {
  it("chat starts one in the background, which the next command uses and `gateway stop` ends", async () => {
    await using home = await homeWithStop();
    const first = await runCli(["chat"], { home: home.path, input: "one\n/new\ntwo\n" });
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\[echo\].*one\n.*\n\[echo\].*two\n$/) as string,
    });
    expect(first.stderr).toContain("Started the gateway in the background");
    expect(first.stderr).toMatch(/New window [0-9a-f]{8}\. .*\/back [0-9a-f]{8}/);
    const second = await runCliShared(["agent", "-m", "three"], { home: home.path });
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining("three") as string, stderr: "" });
    await runCliShared(["agent", "-m", "/verbose on"], { home: home.path });
    const verbose = await runCliShared(["agent", "-m", "tool:list_files ."], { home: home.path });
    expect(verbose).toMatchObject({ code: 0, stderr: "→ list_files .\n" });
    // The token is printed on request, never logged.
    const token = (await readFile(home.join("gateway.token"), "utf8")).trim();
    expect(await readFile(home.join("gateway.log"), "utf8")).not.toContain(token);

    expect(await runCliShared(["gateway", "stop"], { home: home.path })).toMatchObject({ code: 0 });
    expect(existsSync(home.join("gateway.json"))).toBe(false);
    expect((await runCliShared(["gateway", "status"], { home: home.path })).code).toBe(3);
  });

  it("several commands at once use one gateway", async () => {
    await using home = await homeWithStop();
    const results = await Promise.all(
      ["a", "b", "c"].map(async (word) => await runCli(["agent", "-m", word], { home: home.path })),
    );
    for (const [index, { code, stdout }] of results.entries()) {
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining(["a", "b", "c"][index] ?? "") as string,
      });
    }
  });

  it("of several started at once on any ports one stays, and the others report it", async () => {
    await using home = await homeWithStop();
    const started = [1, 2, 3, 4].map(() => program(home, ["gateway", "--port", "0", "--json"]));
    const outputsNow = (): string[] => started.map((one) => one.output());
    await expect
      .poll(() => outputsNow().every((output) => /listening|error/.test(output)), { timeout: 20_000 })
      .toBe(true);
    const outputs = outputsNow();
    expect(outputs.filter((output) => output.includes('"listening":true'))).toHaveLength(1);
    expect(outputs.filter((output) => output.includes('"code":"gateway-running"'))).toHaveLength(3);
    const refused = started.filter((one) => one.output().includes("gateway-running"));
    expect(await Promise.all(refused.map(async ({ ended }) => await ended))).toEqual([1, 1, 1]);
    expect((await createHttpCaller(await requireGateway(home.path)).call("health", {})).ok).toBe(true);
  });

  it("explains why it cannot be started", async () => {
    await using home = await homeWithStop();
    await using blocker = await homeWithStop();
    await using taken = await startCliGateway(blocker.path);
    const port = Number(new URL(taken.announced.url).port);
    await writeFile(home.join("config.json"), JSON.stringify({ gateway: { port } }));
    const { code, stderr, stdout } = await runCli(["agent", "-m", "hi"], { home: home.path });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/The gateway could not be started[\s\S]*Another program listens on[\s\S]*`--local`/);
  });
});

describe("with a gateway", () => {
  let home: TemporaryFolder;
  let gateway: CliGateway;
  beforeAll(async () => {
    home = await homeWithStop();
    gateway = await startCliGateway(home.path);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  it("a failed message sets the exit code; the next message is answered", async () => {
    const { code, stdout, stderr } = await runCli(["chat"], {
      home: home.path,
      input: "fail:unavailable\nstill there\n",
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain("holdfast: ");
    expect(stdout).toContain("still there");
    const agent = await runCliShared(["agent", "-m", "fail:unavailable", "--json"], { home: home.path });
    expect(agent.code).not.toBe(0);
    expect(agent.json()).toMatchObject({ status: "error", error: { message: expect.any(String) as string } });
  });

  it("Ctrl-C in a terminal stops the answer, then exits", async () => {
    using chat = terminal(home, "chat --session agent:main:terminal");
    await chat.shows("> ");
    chat.type("hello\r");
    await chat.shows("[echo] message 1 of this window: hello");
    chat.type("tool:list_files .\r");
    await chat.shows("· list_files");
    await chat.shows("AGENTS.md");
    await chat.shows("> ");
    chat.type("hang\r");
    await turnRuns(home);
    chat.type("\u0003");
    await chat.shows("Stopped.");
    chat.type("and now\r");
    await chat.shows("[echo] message 4 of this window: and now");
    await chat.shows("> ");
    chat.type("\u0003");
    expect(await chat.ended, chat.output()).toBe(130);
  });

  it("Ctrl-C stops the turn of `agent`", async () => {
    using agent = program(home, ["agent", "-m", "hang"]);
    await turnRuns(home);
    agent.child.kill("SIGINT");
    expect(await agent.ended).toBe(130);
    const { json } = await runCliShared(["gateway", "status", "--json"], { home: home.path });
    expect(json()).toMatchObject({ turns: { running: [] } });
  });

  it("a late answer is not a failed turn", async () => {
    const { code, stderr } = await runCliShared(["agent", "-m", "hang", "--timeout", "0.3"], { home: home.path });
    expect(code).toBe(1);
    expect(stderr).toMatch(/No answer yet; the turn continues[\s\S]*holdfast history agent:main:main/);
  });
});

describe("the gateway's end", () => {
  it("is reported when it died, and what happens to the message", async () => {
    await using home = await homeWithStop();
    await using gateway = await startCliGateway(home.path);
    using chat = program(home, ["chat"]);
    chat.type("hang\n");
    await turnRuns(home);
    gateway.process.kill("SIGKILL");
    expect(await chat.ended).toBe(1);
    expect(chat.output()).toMatch(
      /Lost the connection to the gateway[\s\S]*kept and answered when the gateway is back/,
    );
  });

  it("the first signal waits for the running turn, the second does not", async () => {
    await using home = await homeWithStop();
    await using gateway = await startCliGateway(home.path);
    using agent = program(home, ["agent", "-m", "hang"]);
    await turnRuns(home);
    gateway.process.kill("SIGTERM");
    await expect.poll(() => gateway.stderr()).toContain("Stopping. Running turns have 30 seconds to finish");
    expect(gateway.process.exitCode).toBe(null);
    gateway.process.kill("SIGTERM");
    expect(await gateway.ended).toBe(143);
    expect(await agent.ended).toBe(1);
  });
});

describe("a terminal", () => {
  it("shows the sign-in link", async () => {
    await using home = await homeWithStop();
    using gateway = terminal(home, "gateway --port 0");
    await gateway.shows("Web page: http://127.0.0.1:");
    await gateway.shows("Press Ctrl-C to stop.");
    expect(gateway.output()).toContain(`/#token=${(await readFile(home.join("gateway.token"), "utf8")).trim()}`);
  });

  it("shows no log lines, which go to the gateway's log", async () => {
    await using home = await homeWithStop();
    await writeFile(home.join("config.json"), JSON.stringify({ log: { level: "debug" } }));
    using chat = terminal(home, "chat --local");
    await chat.shows("> ");
    chat.type("/send off\r");
    await chat.shows("> ");
    chat.type("hello\r");
    await chat.shows("The answer was not delivered");
    chat.type("/quit\r");
    expect(await chat.ended, chat.output()).toBe(0);
    expect(chat.output()).not.toContain('"level"');
    expect(await readFile(home.join("gateway.log"), "utf8")).toMatch(
      /"level":"info".*the send policy withholds an answer/,
    );
    expect((await stat(home.join("gateway.log"))).mode & 0o777).toBe(0o600);
  });
});

/** A folder that leaves no gateway behind. */
async function homeWithStop(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  await writeFile(folder.join("config.json"), JSON.stringify({ gateway: { port: 0 } }));
  return {
    ...folder,
    [Symbol.asyncDispose]: async () => {
      const gateway = await findGateway(folder.path);
      if (gateway !== undefined) {
        process.kill(gateway.process.pid, "SIGKILL");
        // A killed process may still create a file until it is gone.
        await until(() => processState(gateway.process) === "dead", "the gateway's end");
      }
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function turnRuns(home: TemporaryFolder): Promise<void> {
  const gateway = createHttpCaller(await requireGateway(home.path));
  const running = async (): Promise<number> => (await gateway.call("status", {})).turns.running.length;
  await expect.poll(running, { timeout: 15_000 }).toBe(1);
}

function program(home: TemporaryFolder, args: readonly string[]): WatchedProgram {
  return startProgram(args, { cwd: home.path, env: { HOLDFAST_HOME: home.path } });
}

function terminal(home: TemporaryFolder, command: string): WatchedProgram {
  return startInTerminal(command, 100, { cwd: home.path, env: { HOLDFAST_HOME: home.path } });
}
