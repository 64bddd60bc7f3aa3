import { expect, it } from "vitest";
import type { ChannelStatus } from "../channels/channel.ts";
import { createOutageWatch } from "./outages.ts";

it("tells once that a channel is back, after a minute or more", () => {
  let now = 0;
  const told: string[] = [];
  const clock = { now: () => now, sleep: async () => undefined };
  const note = createOutageWatch(
    clock,
    (channel, accountId, text) => void told.push(`${channel}/${accountId}: ${text}`),
  );
  const report = (state: ChannelStatus["state"], minutes: number): void => {
    now += minutes * 60_000;
    note("telegram", "work", { state, text: "" });
  };
  report("starting", 0);
  report("connected", 5);
  report("retrying", 1);
  report("connected", 0.5);
  expect(told).toEqual([]);
  report("retrying", 1);
  report("retrying", 2);
  report("connected", 3);
  report("connected", 9);
  expect(told).toEqual(["telegram/work: The channel telegram work is connected again after 5 minutes."]);
});
