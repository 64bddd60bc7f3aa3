/** The fake API as a plain client sees it. */
import { expect, test } from "vitest";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic.ts";
import { apiError, cutAfter, heldUntil, message, text, thinking, withUsage } from "./reply.ts";

test("sends a whole message", async () => {
  await using api = await startFakeAnthropic();
  const blocks = [
    { type: "text", text: "let me see" },
    { type: "tool_use", name: "Bash", input: { command: "ls" } },
  ] as const;
  api.script(withUsage(message(...blocks), { input_tokens: 7 }));
  expect(await (await ask(api, "hello")).json()).toMatchObject({
    type: "message",
    role: "assistant",
    model: "test-model",
    content: blocks,
    stop_reason: "tool_use",
    usage: { input_tokens: 7, output_tokens: 10 },
  });
  expect(await (await ask(api, "again")).json()).toMatchObject({ content: [{ type: "text", text: "echo: again" }] });
  expect(api.conversation).toMatchObject([{ kind: "main", streamed: false }, {}]);
});

test("streams a message", async () => {
  await using api = await startFakeAnthropic();
  api.script(thinking("hm", "yes"));
  const events = await (await ask(api, "hello", { stream: true })).text();
  expect(events.match(/(?<=^event: ).*/gm)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

test("holds a stream until released", async () => {
  await using api = await startFakeAnthropic();
  const released = Promise.withResolvers<void>();
  api.script(heldUntil(released.promise, text("so far")));
  const { body } = await ask(api, "hello", { stream: true });
  let received = "";
  let before: string | undefined;
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    received += piece;
    if (before !== undefined || !received.includes("so far")) continue;
    before = received;
    released.resolve();
  }
  expect(before).not.toContain("content_block_stop");
  expect(received).toContain("message_stop");
});

test("sends errors, and cuts a connection", async () => {
  await using api = await startFakeAnthropic();
  api.script(apiError(429, "slow down", 3), cutAfter(text("one two three"), 1));
  const refused = await ask(api, "hello");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3"]);
  expect(await refused.json()).toEqual({
    type: "error",
    error: { type: "rate_limit_error", message: "slow down" },
  });
  await expect(ask(api, "hello", { stream: true }).then(async (response) => await response.text())).rejects.toThrow(
    "terminated",
  );
});

test("answers the CLI's other requests", async () => {
  await using api = await startFakeAnthropic();
  expect((await fetch(api.url, { method: "HEAD" })).status).toBe(200);
  const counted = await fetch(`${api.url}/v1/messages/count_tokens?beta=true`, {
    method: "POST",
    body: JSON.stringify({ messages: [{ role: "user", content: "hello" }] }),
  });
  expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) });
  expect((await fetch(`${api.url}/v1/elsewhere`)).status).toBe(404);
  expect(api.requests).toEqual([]);
});

async function ask(api: FakeAnthropic, content: string, more: object = {}): Promise<Response> {
  const body = JSON.stringify({ model: "test-model", messages: [{ role: "user", content }], ...more });
  return await fetch(`${api.url}/v1/messages?beta=true`, { method: "POST", body });
}
