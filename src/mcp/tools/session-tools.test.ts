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

it("needs a gateway, and a conversation", async () => {
  await using home = await createMcpHome();
  const sessionKey = await home.chat("hello");
  const linked = await home.connect({ sessionKey });
  expect(await linked.callTool({ name: "sessions_spawn", arguments: { task: "Fix it" } })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("Start one with `holdfast gateway`") as string }],
  });
  const alone = await home.connect();
  expect((await alone.listTools()).tools.map(({ name }) => name)).not.toContain("sessions_spawn");
});
