import { expect, it } from "vitest";
import { planCatchUp } from "./plan-catch-up.ts";

it("begins where it is when nothing is known yet", () => {
  const plan = planCatchUp(new Map(), [
    { id: "10", lastMessageId: "50" },
    { id: "20", lastMessageId: undefined },
  ]);
  expect(plan.fetch).toEqual([]);
  expect(plan.seeds).toEqual([
    { channelId: "10", at: "50" },
    { channelId: "20", at: "20" },
  ]);
});

it("asks only channels that have moved", () => {
  const cursors = new Map([
    ["10", "50"],
    ["11", "60"],
    ["12", "9"],
  ]);
  const plan = planCatchUp(cursors, [
    { id: "10", lastMessageId: "55" },
    { id: "11", lastMessageId: "60" },
    // Longer numbers are newer, whatever their first digit.
    { id: "12", lastMessageId: "10" },
  ]);
  expect(plan.fetch).toEqual([
    { channelId: "10", after: "50" },
    { channelId: "12", after: "9" },
  ]);
  expect(plan.seeds).toEqual([]);
});

it("takes all of a channel that was made since, and nothing of an old one that was out of sight", () => {
  const plan = planCatchUp(new Map([["10", "50"]]), [
    { id: "10", lastMessageId: "50" },
    { id: "70", lastMessageId: "75" },
    { id: "30", lastMessageId: "75" },
    { id: "80", lastMessageId: undefined },
  ]);
  expect(plan.fetch).toEqual([{ channelId: "70", after: "70" }]);
  expect(plan.seeds).toEqual([{ channelId: "30", at: "75" }]);
});

it("asks the latest of the private chats, and counts the others", () => {
  const cursors = new Map(Array.from({ length: 130 }, (_, index) => [String(1000 + index), String(5000 + index)]));
  const plan = planCatchUp(cursors, []);
  expect(plan.fetch).toHaveLength(100);
  expect(plan.fetch[0]).toEqual({ channelId: "1129", after: "5129" });
  expect(plan.skipped).toBe(30);
});
