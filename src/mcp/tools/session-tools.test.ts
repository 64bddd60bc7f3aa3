import { expect, it } from "vitest";
import { createMcpHome } from "../../../test/support/mcp-home.ts";
import { SESSION_TOOL_NAMES } from "../../engine/tools/session-tools.ts";
import type { SessionToolCall } from "../bridge-parts.ts";

it("asks the gateway in the name of the linked conversation", async () => {
  await using home = await createMcpHome();
  const sessionKey = await home.chat("hello");
  const asked: SessionToolCall[] = [];
  const callSessionTool = async (call: SessionToolCall) => {
    asked.push(call);
    const isKnown = call.tool === "sessions_spawn";
    return await Promise.resolve(
      isKnown
        ? { text: '{"status":"accepted","runId":"k3w9xp"}', isError: false }
        : { text: "There is no session <x>.", isError: true },
    );
  };
  const client = await home.connect({ sessionKey, parts: { callSessionTool } });
  const { tools } = await client.listTools();
  for (const name of SESSION_TOOL_NAMES) expect(tools.map((tool) => tool.name)).toContain(name);
  const spawned = await client.callTool({ name: "sessions_spawn", arguments: { task: "Fix it", repo: "shop" } });
  expect(spawned.structuredContent).toMatchObject({ status: "accepted", runId: "k3w9xp" });
  const history = await client.callTool({ name: "sessions_history", arguments: { session: "x" } });
  expect(history).toMatchObject({ isError: true, content: [{ text: "There is no session ‹x>." }] });
  expect(asked).toMatchObject([
    { sessionKey, agentId: "main", tool: "sessions_spawn", input: { task: "Fix it", repo: "shop" } },
    { sessionKey, agentId: "main", tool: "sessions_history", input: { session: "x" } },
  ]);
  expect(await client.callTool({ name: "sessions_send", arguments: { session: "x" } })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("message") as string }],
  });
});

it("reads without a gateway, and needs one for everything else, and a conversation", async () => {
  await using home = await createMcpHome();
  const sessionKey = await home.chat("hello");
  const linked = await home.connect({ sessionKey });
  const call = async (name: string, input: Record<string, unknown> = {}) =>
    await linked.callTool({ name, arguments: input });
  expect((await call("sessions_list")).structuredContent).toMatchObject({ sessions: [{ key: sessionKey }], total: 1 });
  expect(JSON.stringify(await call("sessions_history"))).toContain("hello");
  expect((await call("session_status")).structuredContent).toMatchObject({ key: sessionKey, waiting: 0 });
  expect(JSON.stringify(await call("project_status"))).toContain("project-status");
  for (const session of ["agent:main:main", "agent:other:main"]) {
    expect(JSON.stringify(await call("sessions_history", { session }))).toContain("This conversation has no session");
  }
  const starting = { sessions_spawn: { task: "Fix it" }, sessions_send: { session: sessionKey, message: "hi" } };
  for (const [name, input] of Object.entries(starting)) {
    expect(await call(name, input)).toMatchObject({ isError: true });
  }
  expect(await call("sessions_spawn", { task: "Fix it" })).toMatchObject({
    content: [{ text: expect.stringContaining("Start one with `holdfast gateway`") as string }],
  });
  const alone = await home.connect();
  expect((await alone.listTools()).tools.map(({ name }) => name)).not.toContain("sessions_spawn");
});
