/**
 * The output of the command line in general, of reading and of chatting: JSON shapes and sentences. docs/cli.md
 * describes it.
 */
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createCliHome } from "../support/cli-home.ts";
import { runCli, runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/) as string;

describe("holdfast in an empty home", () => {
  it("lists nothing, creates nothing and gives a hint", async () => {
    await using folder = await temporaryFolder();
    const home = folder.join("new");
    const { code, json } = await runCli(["sessions", "--json"], { home, cwd: folder.path });
    expect(code).toBe(0);
    expect(json()).toMatchObject({ count: 0, total: 0, sessions: [] });
    const { stderr } = await runCli(["sessions"], { home, cwd: folder.path });
    expect(stderr).toContain("Start one with `holdfast chat`");
    expect((await runCli(["history"], { home, cwd: folder.path })).code).toBe(3);
    expect((await runCli(["doctor"], { home, cwd: folder.path })).code).toBe(0);
    expect(existsSync(home)).toBe(false);
  });

  it("shows the commands of a group", async () => {
    await using folder = await temporaryFolder();
    for (const args of [["config"], ["config", "--help"], ["help", "config"]]) {
      const { code, stdout } = await runCliShared(args, { home: folder.path });
      expect(code).toBe(0);
      expect(stdout).toContain("config set <key> <value>");
    }
  });
});

describe("holdfast history", () => {
  it("prints entries as JSON and as text", async () => {
    await using home = await createCliHome();
    const { json } = await runCli(["history", "work", "--json"], { home: home.path });
    expect(json()).toMatchObject({
      sessionId: ID,
      complete: true,
      problemCount: 0,
      entries: expect.arrayContaining([
        expect.objectContaining({ type: "message", message: expect.objectContaining({ role: "user" }) as object }),
      ]) as object[],
    });
    const { stdout } = await runCli(["history"], { home: home.path });
    expect(stdout).toContain("[echo] message 1 of this window: again");
  });

  it("shows an earlier window by its id", async () => {
    await using home = await createCliHome();
    const { json } = await runCliShared(["sessions", "show", "work", "--json"], { home: home.path });
    const [first] = (json() as { windows: { sessionId: string }[] }).windows;
    const { stdout } = await runCliShared(["history", first?.sessionId.slice(0, 8) ?? ""], { home: home.path });
    expect(stdout).toContain("earlier window");
    expect(stdout).toContain("[echo] message 1 of this window: hello");
  });

  it("prints escape sequences visibly", async () => {
    await using home = await temporaryFolder();
    await runCliShared(["chat", "--local"], { home: home.path, input: "red \u001b[31m alert \u0007\n" });
    const { stdout } = await runCliShared(["history"], { home: home.path });
    expect(stdout).toContain(String.raw`red \u001b[31m alert`);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("holdfast doctor", () => {
  it("reports a crashed gateway and waiting messages, as text and as JSON", async () => {
    await using home = await createCliHome();
    await writeFile(home.join("gateway.json"), "{}", { mode: 0o600 });
    await writeFile(home.join("gateway.token"), "short", { mode: 0o600 });
    const { code, json } = await runCli(["doctor", "--json"], { home: home.path });
    expect(code).toBe(5);
    expect(json()).toEqual({
      ok: false,
      fixed: 0,
      findings: [
        {
          check: "gateway",
          severity: "error",
          message: expect.stringContaining("does not contain a token. Delete the file") as string,
          path: home.join("gateway.token"),
        },
        {
          check: "gateway",
          severity: "warning",
          message: "A gateway crashed and left its runtime file",
          path: home.join("gateway.json"),
          fix: "remove the file; the next gateway writes a new one",
        },
      ],
      checked: { agents: 1, sessions: 1, transcripts: 2 },
    });
    await rm(home.join("gateway.token"));
    const { stdout } = await runCli(["doctor", "--fix"], { home: home.path });
    expect(stdout).toContain("1 problem repaired. No problems left (1 agent, 1 session, 2 transcripts)");
  });
});

describe("holdfast chat", () => {
  it("answers line by line without a terminal, and ends with its input", async () => {
    await using home = await temporaryFolder();
    const { code, stdout, stderr } = await runCli(["chat", "--local"], {
      home: home.path,
      input: "one\n\ntwo\n/new\nthree\n",
    });
    expect(code).toBe(0);
    expect(stdout).toBe(
      "[echo] message 1 of this window: one\n[echo] message 2 of this window: two\nA new conversation has begun.\n[echo] message 1 of this window: three\n",
    );
    expect(stderr).toContain("No model is configured: the echo engine answers.");
    expect(stderr).toMatch(/New window [0-9a-f]{8}\. .*\/back [0-9a-f]{8}/);
  });

  it("creates the session of a named key and finds it again", async () => {
    await using home = await temporaryFolder();
    for (const [index, session] of ["agent:main:main", "main", "Agent:Main:Main"].entries()) {
      const { code, stdout } = await runCliShared(["chat", "--local", "--session", session], {
        home: home.path,
        input: "hi\n",
      });
      expect({ code, stdout }).toEqual({ code: 0, stdout: `[echo] message ${index + 1} of this window: hi\n` });
    }
    const { sessions } = (await runCliShared(["sessions", "--json"], { home: home.path })).json() as {
      sessions: object[];
    };
    expect(sessions).toMatchObject([{ key: "agent:main:main" }]);
    for (const session of ["maim", "release: notes", "0a1b2c3d"]) {
      const { code, stderr } = await runCliShared(["chat", "--local", "--session", session], { home: home.path });
      expect({ session, code }).toEqual({ session, code: 3 });
      expect(stderr).toContain(`No session found: ${session}`);
    }
  });

  it("explains an answer that the send policy withheld", async () => {
    await using home = await temporaryFolder();
    const chat = await runCliShared(["chat", "--local"], {
      home: home.path,
      input: "one\n/send off\ntwo\n/send on\nthree\n",
    });
    expect(chat.stdout).toMatch(/: one\n[^\n]*\n[^\n]*\n\[echo\][^\n]*: three\n$/);
    expect(chat.stderr.match(/The answer was not delivered: the session's send policy is deny/g)).toHaveLength(1);
    await runCliShared(["agent", "-m", "/send off", "--local"], { home: home.path });
    const agent = await runCliShared(["agent", "-m", "hello", "--local"], { home: home.path });
    expect(agent).toMatchObject({ code: 0, stdout: "" });
    expect(agent.stderr).toContain("The answer was not delivered: the session's send policy is deny");
    const reset = await runCliShared(["agent", "-m", "/new", "--local"], { home: home.path });
    expect(reset).toMatchObject({ code: 0, stdout: "" });
    expect(reset.stderr).toContain("The answer was not delivered: the session's send policy is deny");
    const { json } = await runCliShared(["agent", "-m", "hello", "--local", "--json"], { home: home.path });
    expect(json()).toMatchObject({
      status: "ok",
      result: { payloads: [], meta: { outcome: "answered", withheld: "send-policy" } },
    });
  });

  it("shows attachments, also with NO_REPLY", async () => {
    await using home = await temporaryFolder();
    const ask = async (message: string, ...options: string[]) =>
      await runCli(["agent", "-m", message, "--local", ...options], { home: home.path });
    expect((await ask("say:MEDIA:https://a.test/x.png the chart")).stdout).toBe(
      "the chart\nMEDIA:https://a.test/x.png\n",
    );
    const silent = await ask("say:MEDIA:https://a.test/x.png NO_REPLY");
    expect(silent).toMatchObject({ stdout: "MEDIA:https://a.test/x.png\n", stderr: "" });
    const { json } = await ask("say:NO_REPLY MEDIA:./a.ogg", "--json");
    expect(json()).toMatchObject({
      result: { payloads: [{ text: "", mediaUrl: "./a.ogg", mediaUrls: ["./a.ogg"] }], meta: { outcome: "answered" } },
    });
    const chat = await runCli(["chat", "--local"], { home: home.path, input: "say:MEDIA:https://a.test/x.png\n" });
    expect(chat.stdout).toBe("MEDIA:https://a.test/x.png\n");
  });

  it("returns to an earlier window", async () => {
    await using home = await temporaryFolder();
    const { stdout } = await runCliShared(["chat", "--local"], {
      home: home.path,
      input: "one\n/new two\n/back 1\nthree\n/windows\n",
    });
    expect(stdout).toContain("Back in window");
    expect(stdout).toContain("[echo] message 2 of this window: three");
  });
});
