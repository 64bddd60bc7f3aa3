/** The runner with the real `claude` and a model API on loopback: one task at a time. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registeredCost, type RunnerHome, branchPoints, createRunnerHome, prompts } from "../support/runner-home.ts";
import { lastUserText, toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { apiError, hang, slowly, text, toolUse, withUsage } from "../support/fake-anthropic/reply.ts";

describe("one task after the other", () => {
  let bench: RunnerHome;
  /** Of the first task. */
  let sessionId: string;
  beforeAll(async () => {
    bench = await createRunnerHome();
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });

  it("spawns, marks, resumes, and counts costs once", async () => {
    bench.reply("first task", withUsage(text("first answer"), { input_tokens: 20_000, output_tokens: 1000 }));
    bench.reply("second task", withUsage(text("second answer"), { input_tokens: 30_000, output_tokens: 2000 }));
    const first = await bench.run("first task");
    expect(first).toMatchObject({ outcome: "completed", text: "first answer", isLive: false, warnings: [] });
    expect(first.selection.action).toBe("fresh");
    sessionId = first.sessionId ?? "";
    const lines = await bench.claude.transcript(sessionId);
    expect((await prompts(bench, sessionId))[0]).toBe("[openclaw:agent=main]\n\nfirst task");
    expect(new Set(lines.flatMap((line) => line["entrypoint"] ?? []))).toEqual(new Set(["holdfast"]));
    expect(bench.events.map((event) => event.type)).toEqual(
      expect.arrayContaining(["selected", "started", "text", "ended"]),
    );

    const second = await bench.run("second task");
    expect(second).toMatchObject({ outcome: "completed", text: "second answer", sessionId });
    expect(second.selection.action).toBe("resume");
    expect((await prompts(bench, sessionId)).at(-1)).toBe("second task");
    expect(first.costUsd).toBeGreaterThan(0);
    expect(second.costUsd).toBeGreaterThan(first.costUsd);
    expect(await registeredCost(bench.setup, sessionId)).toBeCloseTo(first.costUsd + second.costUsd, 9);
    expect(await branchPoints(bench, sessionId)).toBe(0);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });

  it("forks without touching the original", async () => {
    const before = await bench.claude.transcript(sessionId);
    const fork = await bench.run("on a copy", { fork: sessionId });
    expect(fork.outcome).toBe("completed");
    expect(fork.sessionId).not.toBe(sessionId);
    expect(await prompts(bench, fork.sessionId ?? "")).toContain("on a copy");
    expect(await bench.claude.transcript(sessionId)).toEqual(before);
  });

  it("maps limits and refusals to outcomes", async () => {
    bench.reply("keep going", toolUse("Bash", { command: "true" }));
    expect(await bench.run("keep going", { fresh: true, maxTurns: 2 })).toMatchObject({ outcome: "limit-turns" });
    bench.reply("spend a lot", withUsage(toolUse("Bash", { command: "true" }), { input_tokens: 9_000_000 }));
    const spent = await bench.run("spend a lot", { fresh: true, maxBudgetUsd: 0.01 });
    expect(spent).toMatchObject({ outcome: "limit-budget" });
    await expect(bench.run("more", { resume: spent.sessionId ?? "" })).rejects.toMatchObject({
      code: "budget-used-up",
      hint: expect.stringContaining("--max-budget-usd") as string,
    });
    expect(await readdir(bench.locksFolder)).toEqual([]);
    bench.reply("be refused", apiError(400, "not like this"));
    const refused = await bench.run("be refused", { fresh: true });
    expect(refused.outcome).toBe("api-error");
    expect(refused.error).toContain("not like this");
    bench.reply("take too long", hang());
    expect(await bench.run("take too long", { fresh: true, timeoutMs: 1000 })).toMatchObject({ outcome: "timed-out" });
  });

  it("can be interrupted by its signal, and the session can be resumed", async () => {
    bench.reply("talk on", slowly(text(Array.from({ length: 400 }, () => "word").join(" ")), 50));
    const controller = new AbortController();
    const running = bench.run("talk on", {
      fresh: true,
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "text") controller.abort();
      },
    });
    const result = await running;
    expect(result.outcome).toBe("interrupted");
    const next = await bench.run("and now", { resume: result.sessionId ?? "" });
    expect(next).toMatchObject({ outcome: "completed", sessionId: result.sessionId });
  });

  it("survives the death of its process: nothing is repeated, the session stays known", async () => {
    bench.reply("then die", hang());
    const running = bench.run("then die", { fresh: true });
    await bench.api.waitFor((request) => lastUserText(request).includes("then die"));
    const [run] = [...bench.runner.activeSpawns.values()];
    process.kill(run?.process.pid ?? 0, "SIGKILL");
    const result = await running;
    expect(result.outcome).toBe("crashed");
    expect(result.sessionId).toBe(run?.sessionId());
    expect(bench.api.conversation.filter((request) => lastUserText(request).includes("then die"))).toHaveLength(1);
    expect(await readdir(bench.locksFolder)).toEqual([]);
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
    await using bench = await createRunnerHome({ mcpServer });
    bench.api.script(toolUse("mcp__holdfast__ping", {}), text("done"));
    let mode: number | undefined;
    const result = await bench.run("ping it", {
      permissionMode: "default",
      onEvent: async (event) => {
        if (event.type !== "tool") return;
        const name = (await readdir(bench.locksFolder)).find((file) => file.startsWith("mcp-")) ?? "";
        mode = (await stat(join(bench.locksFolder, name))).mode & 0o777;
      },
    });
    expect(result).toMatchObject({ outcome: "completed", text: "done", denials: [] });
    expect(bench.api.conversation.flatMap(toolResults)).toMatchObject([{ text: "pong at once", isError: false }]);
    expect(mode).toBe(0o600);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });
});

describe("a resume that fails", () => {
  it("becomes a fresh session with the old history, with a warning", async () => {
    await using bench = await createRunnerHome({ history: "We were mending the flux capacitor." });
    const lost = "11111111-2222-4333-8444-555555555555";
    const result = await bench.run("go on", { resume: lost });
    expect(result.outcome).toBe("completed");
    expect(result.sessionId).not.toBe(lost);
    expect(result.warnings.join()).toContain(lost);
    expect(bench.events.find((event) => event.type === "fallback")).toMatchObject({ sessionId: lost });
    const [prompt] = await prompts(bench, result.sessionId ?? "");
    expect(prompt).toMatch(/^\[openclaw:agent=main\]\n\n/);
    expect(prompt).toContain("flux capacitor");
    expect(prompt?.endsWith("The task:\ngo on")).toBe(true);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });

  it("starts no replacement when it is ended meanwhile", async () => {
    await using bench = await createRunnerHome();
    const ended = Promise.withResolvers<unknown>();
    const running = bench.run("go on", {
      resume: "11111111-2222-4333-8444-555555555555",
      onEvent: (event) => {
        if (event.type === "started") ended.resolve(bench.runner.killClaudeCode(bench.claude.repo));
      },
    });
    await expect(running).rejects.toMatchObject({ code: "run-cancelled" });
    expect(await ended.promise).toMatchObject([{ by: "holdfast" }]);
    expect(bench.api.conversation).toEqual([]);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });
});
