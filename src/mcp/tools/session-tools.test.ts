import { expect, it } from "vitest";
import { createMcpHome } from "../../../test/support/mcp-home.ts";
import type { BridgeTask } from "../bridge-parts.ts";

it("gives the task to the gateway in the name of the linked conversation", async () => {
  await using home = await createMcpHome();
  const sessionKey = await home.chat("hello");
  const asked: BridgeTask[] = [];
  const client = await home.connect({
    sessionKey,
    parts: {
      startTask: async (request) => {
        asked.push(request);
        return await Promise.resolve({ status: "accepted", runId: "k3w9xp", decision: "Start fresh.", project: "" });
      },
    },
  });
  const answer = await client.callTool({ name: "sessions_spawn", arguments: { task: " Fix it ", repo: "shop" } });
  expect(answer.structuredContent).toMatchObject({ status: "accepted", runId: "k3w9xp" });
  expect(asked).toMatchObject([{ sessionKey, agentId: "main", task: "Fix it", repo: "shop", persistent: false }]);
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
