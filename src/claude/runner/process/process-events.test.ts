import { expect, test } from "vitest";
import type { ClaudeEvent } from "./claude-process.ts";
import { createEventChannel } from "./process-events.ts";

test("joins unread text and keeps the order of other events", async () => {
  const channel = createEventChannel();
  const events = channel.subscribe();
  for (const event of [text("a"), text("b"), status("x"), text("c"), { ...text("d"), parentToolUseId: "t" }]) {
    channel.publish(event);
  }
  channel.close();
  expect(await all(events)).toEqual([text("ab"), status("x"), text("c"), { ...text("d"), parentToolUseId: "t" }]);
});

test("drops and counts the oldest events of a slow reader only", async () => {
  const channel = createEventChannel(3);
  const [slow, quick] = [channel.subscribe(), channel.subscribe()[Symbol.asyncIterator]()];
  for (const name of ["1", "2", "3", "4", "5"]) {
    channel.publish(status(name));
    expect((await quick.next()).value).toEqual(status(name));
  }
  channel.close();
  expect(await all(slow)).toEqual([
    { type: "dropped", count: 2, sessionId: "s" },
    status("3"),
    status("4"),
    status("5"),
  ]);
  expect(await quick.next()).toMatchObject({ done: true });
});

test("limits the length of joined text", async () => {
  const channel = createEventChannel();
  const events = channel.subscribe();
  for (let index = 0; index < 40; index++) channel.publish(text("x".repeat(1000)));
  channel.close();
  const lengths = (await all(events)).map((event) => (event.type === "text" ? event.text.length : 0));
  expect(Math.max(...lengths)).toBeLessThan(20_000);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(40_000);
});

test("ends a reader that subscribes after the close", async () => {
  const channel = createEventChannel();
  channel.close();
  expect(await all(channel.subscribe())).toEqual([]);
});

function text(value: string): ClaudeEvent & { type: "text" } {
  return { type: "text", text: value, sessionId: "s" };
}

function status(value: string): ClaudeEvent {
  return { type: "status", status: value, sessionId: "s" };
}

async function all(events: AsyncIterable<ClaudeEvent>): Promise<ClaudeEvent[]> {
  const list: ClaudeEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}
