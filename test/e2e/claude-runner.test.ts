/** The runner with the real `claude` and a model API on loopback: one task at a time. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registeredCost, type RunnerHome, branchPoints, createRunnerHome, prompts } from "../support/runner-home.ts";
import { lastUserText, toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { hang, slowly, text, toolUse, withUsage } from "../support/fake-anthropic/reply.ts";

describe("one task after the other", () => {
  let home: RunnerHome;
  /** Of the first task. */
  let sessionId: string;
  beforeAll(async () => {
    home = await createRunnerHome();
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
  });

  it("spawns, marks, resumes, and counts costs once", async () => {
    home.reply("first task", withUsage(text("first answer"), { input_tokens: 20_000, output_tokens: 1000 }));
    home.reply("second task", withUsage(text("second answer"), { input_tokens: 30_000, output_tokens: 2000 }));
    const first = await home.run("first task");
    expect(first).toMatchObject({ outcome: "completed", text: "first answer", isLive: false, warnings: [] });
    expect(first.selection.action).toBe("fresh");
    sessionId = first.sessionId ?? "";
    const lines = await home.claude.transcript(sessionId);
    expect((await prompts(home, sessionId))[0]).toBe("[openclaw:agent=main]\n\nfirst task");
    expect(new Set(lines.flatMap((line) => line["entrypoint"] ?? []))).toEqual(new Set(["holdfast"]));
    expect(home.events.map((event) => event.type)).toEqual(
      expect.arrayContaining(["selected", "started", "text", "ended"]),
    );

    const second = await home.run("second task");
    expect(second).toMatchObject({ outcome: "completed", text: "second answer", sessionId });
    expect(second.selection.action).toBe("resume");
    expect((await prompts(home, sessionId)).at(-1)).toBe("second task");
    expect(first.costUsd).toBeGreaterThan(0);
    expect(second.costUsd).toBeGreaterThan(first.costUsd);
    expect(await registeredCost(home.setup, sessionId)).toBeCloseTo(first.costUsd + second.costUsd, 9);
    expect(await branchPoints(home, sessionId)).toBe(0);
    expect(await readdir(home.locksFolder)).toEqual([]);
  });

  it("forks without touching the original", async () => {
    const before = await home.claude.transcript(sessionId);
    const fork = await home.run("on a copy", { fork: sessionId });
    expect(fork.outcome).toBe("completed");
    expect(fork.sessionId).not.toBe(sessionId);
    expect(await prompts(home, fork.sessionId ?? "")).toContain("on a copy");
    expect(await home.claude.transcript(sessionId)).toEqual(before);
  });

  it("maps limits to outcomes", async () => {
    home.reply("keep going", toolUse("Bash", { command: "true" }));
    expect(await home.run("keep going", { fresh: true, maxTurns: 2 })).toMatchObject({ outcome: "limit-turns" });
    home.reply("spend a lot", withUsage(toolUse("Bash", { command: "true" }), { input_tokens: 9_000_000 }));
    const spent = await home.run("spend a lot", { fresh: true, maxBudgetUsd: 0.01 });
    expect(spent).toMatchObject({ outcome: "limit-budget" });
    await expect(home.run("more", { resume: spent.sessionId ?? "" })).rejects.toMatchObject({
      code: "budget-used-up",
      hint: expect.stringContaining("--max-budget-usd") as string,
    });
    expect(await readdir(home.locksFolder)).toEqual([]);
    home.reply("take too long", hang());
    expect(await home.run("take too long", { fresh: true, timeoutMs: 1000 })).toMatchObject({ outcome: "timed-out" });
  });

  it("can be interrupted by its signal, and the session can be resumed", async () => {
    home.reply("talk on", slowly(text(Array.from({ length: 400 }, () => "word").join(" ")), 50));
    const controller = new AbortController();
    const running = home.run("talk on", {
      fresh: true,
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "text") controller.abort();
      },
    });
    const result = await running;
    expect(result.outcome).toBe("interrupted");
    const next = await home.run("and now", { resume: result.sessionId ?? "" });
    expect(next).toMatchObject({ outcome: "completed", sessionId: result.sessionId });
  });

  it("survives the death of its process: nothing is repeated, the session stays known", async () => {
    home.reply("then die", hang());
    const running = home.run("then die", { fresh: true });
    await home.api.waitFor((request) => lastUserText(request).includes("then die"));
    const [run] = [...home.runner.activeSpawns.values()];
    process.kill(run?.process.pid ?? 0, "SIGKILL");
    const result = await running;
    expect(result.outcome).toBe("crashed");
    expect(result.sessionId).toBe(run?.sessionId());
    expect(home.api.conversation.filter((request) => lastUserText(request).includes("then die"))).toHaveLength(1);
    expect(await readdir(home.locksFolder)).toEqual([]);
  });
});

/** The smallest MCP server: one tool that answers with its argument of the command line. */
const MCP_SERVER = `
const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "ping", description: "Answers.", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "pong " + process.argv[1] }] }),
};
require("node:readline").createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answer ? answer(params) : {} }));
});`;

describe("the MCP server", () => {
  it("works from the first turn without permission prompts; its private file is removed", async () => {
    const mcpServer = { command: process.execPath, args: ["-e", MCP_SERVER, "at once"], tools: ["ping"] };
    await using home = await createRunnerHome({ mcpServer });
    home.api.script(toolUse("mcp__holdfast__ping", {}), text("done"));
    let mode: number | undefined;
    const result = await home.run("ping it", {
      permissionMode: "default",
      onEvent: async (event) => {
        if (event.type !== "tool") return;
        const name = (await readdir(home.locksFolder)).find((file) => file.startsWith("mcp-")) ?? "";
        mode = (await stat(join(home.locksFolder, name))).mode & 0o777;
      },
    });
    expect(result).toMatchObject({ outcome: "completed", text: "done", denials: [] });
    expect(home.api.conversation.flatMap(toolResults)).toMatchObject([{ text: "pong at once", isError: false }]);
    expect(mode).toBe(0o600);
    expect(await readdir(home.locksFolder)).toEqual([]);
  });
});

// `claude-side.test.ts` has the replacement.
describe("a resume that fails", () => {
  it("starts no replacement when it is ended meanwhile", async () => {
    await using home = await createRunnerHome();
    const ended = Promise.withResolvers<unknown>();
    const running = home.run("go on", {
      resume: "11111111-2222-4333-8444-555555555555",
      onEvent: (event) => {
        if (event.type === "started") ended.resolve(home.runner.killClaudeCode(home.claude.repo));
      },
    });
    await expect(running).rejects.toMatchObject({ code: "run-cancelled" });
    expect(await ended.promise).toMatchObject([{ by: "holdfast" }]);
    expect(home.api.conversation).toEqual([]);
    expect(await readdir(home.locksFolder)).toEqual([]);
  });
});
