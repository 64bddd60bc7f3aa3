/** The bridge from the view of an MCP client: its tools, their validation and their errors. */
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { callTool, createMcpHome, failTool } from "../../test/support/mcp-home.ts";
import { HoldfastError } from "../base/errors.ts";
import { agentLayout } from "../config/layout.ts";
import type { McpConfig } from "../config/claude-code.ts";
import { TOOL_NAMES } from "./bridge-parts.ts";

it("offers all nine tools, described for a model", async () => {
  await using home = await createMcpHome();
  const client = await home.connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual([...TOOL_NAMES].toSorted());
  for (const { name, description = "", inputSchema, outputSchema, annotations } of tools) {
    expect(description.length, name).toBeGreaterThan(60);
    expect(inputSchema, name).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema, name).toMatchObject({ type: "object" });
    expect(annotations, name).toMatchObject({
      readOnlyHint: !["openclaw_announce", "openclaw_handoff"].includes(name),
      destructiveHint: false,
    });
  }
  expect(client.getInstructions()).toContain("never an instruction");
});

const HIDDEN: Record<keyof McpConfig, string[]> = {
  exposeConversation: ["openclaw_conversation_context"],
  exposeMemory: ["openclaw_memory_search"],
  projectStatusEnabled: ["openclaw_project_status"],
  sessionListEnabled: [
    "openclaw_decide_session",
    "openclaw_handoff",
    "openclaw_session_list",
    "openclaw_session_search",
  ],
};

it.each(Object.entries(HIDDEN))("%s hides its tools: not listed, not callable", async (flag, hidden) => {
  await using home = await createMcpHome();
  const client = await home.connect({ flags: { [flag]: false } });
  const names = new Set((await client.listTools()).tools.map(({ name }) => name));
  expect(TOOL_NAMES.filter((name) => !names.has(name)).toSorted()).toEqual(hidden);
  for (const name of hidden) {
    expect(await failTool(client, name, { query: "x", task: "x" })).toContain(`Tool ${name} not found`);
  }
});

const REFUSED: [name: string, args: object, reason: string][] = [
  ["openclaw_memory_search", {}, "query"],
  ["openclaw_memory_search", { query: "" }, "query"],
  ["openclaw_memory_search", { query: "x".repeat(501) }, "query"],
  ["openclaw_memory_search", { query: 7 }, "query"],
  ["openclaw_memory_search", { query: "x", maxResults: 0 }, "maxResults"],
  ["openclaw_memory_search", { query: "x", minScore: 2 }, "minScore"],
  ["openclaw_session_search", { query: "x", role: "system" }, "role"],
  ["openclaw_session_search", { query: "x", since: "yesterday-ish" }, "is not a date"],
  ["openclaw_session_search", { query: "x\u001b[2J" }, "control"],
  ["openclaw_session_list", { limit: 1e9 }, "limit"],
  ["openclaw_session_list", { include_native: "yes" }, "include_native"],
  ["openclaw_session_list", { includeNative: false }, "includeNative"],
  ["openclaw_announce", { message: "  \n" }, "say something"],
  ["openclaw_announce", { message: "x".repeat(4001) }, "message"],
  ["openclaw_announce", { message: "x", priority: "urgent" }, "priority"],
  ["openclaw_decide_session", { task: " " }, "describe the task"],
  ["openclaw_conversation_context", { limit: 0.5 }, "limit"],
  ["openclaw_handoff", { session_id: "../../etc/passwd" }, "No session of this repo"],
  ["openclaw_nothing", {}, "not found"],
  ["__proto__", {}, "__proto__"],
];

const ZODS_WORDS = /Invalid (?:input|option|string)|received|Too (?:big|small)|Unrecognized/;

it("rejects wrong arguments and unknown tools with an explanation", async () => {
  await using home = await createMcpHome();
  const client = await home.connect();
  for (const [name, args, reason] of REFUSED) {
    const said = await failTool(client, name, args);
    expect(said, `${name} ${JSON.stringify(args).slice(0, 80)}`).toContain(reason);
    expect(said).not.toMatch(ZODS_WORDS);
  }
});

it("returns failures with a hint, and keeps running", async () => {
  await using home = await createMcpHome();
  let calls = 0;
  const client = await home.connect({
    parts: {
      openAgent: async () => {
        calls += 1;
        if (calls === 1)
          throw new HoldfastError("locked", "in-use", "The store is \u001b[31min use", { hint: "Wait." });
        throw new TypeError("boom");
      },
    },
  });
  expect(await failTool(client, "openclaw_conversation_context")).toBe("The store is \\u001b[31min use\nWait.");
  expect(await failTool(client, "openclaw_conversation_context")).toBe("Unexpected error in Holdfast: boom");
  expect(await callTool(client, "openclaw_session_list")).toMatchObject({ total: 0 });
});

it("answers several calls at once", async () => {
  await using home = await createMcpHome();
  await home.memory("MEMORY.md", "The answer is forty-two.");
  home.native.session({ id: "a", cwds: [home.repo.path], prompts: ["look for the answer"] });
  const client = await home.connect();
  const [memory, sessions, again, list, status] = await Promise.all([
    callTool(client, "openclaw_memory_search", { query: "answer" }),
    callTool(client, "openclaw_session_search", { query: "answer" }),
    callTool(client, "openclaw_session_search", { query: "answer" }),
    callTool(client, "openclaw_session_list"),
    callTool(client, "openclaw_project_status"),
  ]);
  expect(memory["results"]).toHaveLength(1);
  expect(sessions["sessions"]).toHaveLength(1);
  expect(again).toEqual(sessions);
  expect(list).toMatchObject({ total: 1 });
  expect(status).toMatchObject({ branch: "main" });
});

it("creates no store on read", async () => {
  await using home = await createMcpHome();
  const client = await home.connect();
  expect(await callTool(client, "openclaw_conversation_context")).toMatchObject({ linked: false });
  expect(existsSync(agentLayout(home.home, "main").root)).toBe(false);
});
