/** `GET /metrics`: Prometheus text, for the owner only. */
import { expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";

it("counts turns, waiting messages and deliveries, and needs the token", async () => {
  await using home = await createGatewayHome();
  await home.post("agent", { message: "hello", sessionKey: "agent:main:one", idempotencyKey: "1" });
  const address = `${home.gateway.url}/metrics`;
  expect((await fetch(address)).status).toBe(401);
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${home.gateway.token}` } });
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const text = await answer.text();
  expect(samplesOf(text)).toMatchObject({
    holdfast_turns_total: 1,
    holdfast_turns_failed_total: 0,
    holdfast_turns_running: 0,
    holdfast_messages_admitted_total: 1,
    'holdfast_queue_messages{agent="main"}': 0,
    'holdfast_messages_given_up{agent="main"}': 0,
    holdfast_index_pending_bytes: expect.any(Number),
  });
  expect(text).toMatch(/^# HELP holdfast_info .+\n# TYPE holdfast_info gauge\nholdfast_info\{version="[^"]+"\} 1\n/);
});

/** Fails on a line that is neither a comment nor a sample. */
function samplesOf(text: string): Record<string, number> {
  const lines = text.trimEnd().split("\n");
  const samples = lines
    .filter((line) => !/^# (?:HELP|TYPE) /.test(line))
    .map((line) => /^(\S+) (-?[\d.e+-]+)$/.exec(line));
  return Object.fromEntries(samples.map((match) => [match?.[1] ?? "unreadable", Number(match?.[2])]));
}
