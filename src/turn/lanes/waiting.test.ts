import { describe, expect, it } from "vitest";
import { createSlots } from "./waiting.ts";

describe("slots", () => {
  it("grants free slots in order, and the next when one is released", () => {
    const slots = createSlots({ total: 2, perAgent: () => 2 });
    const tickets = Array.from({ length: 4 }, () => slots.request("a"));
    const granted = () => tickets.map(({ isGranted }) => isGranted);
    expect(granted()).toEqual([true, true, false, false]);
    expect(slots.isContended()).toBe(true);
    tickets[1]?.release();
    expect(granted()).toEqual([true, false, true, false]);
    tickets[3]?.release();
    tickets[0]?.release();
    tickets[0]?.release();
    expect(granted()).toEqual([false, false, true, false]);
    expect(slots.isContended()).toBe(false);
    expect(slots.request("a").isGranted).toBe(true);
    expect(slots.request("a").isGranted).toBe(false);
  });

  it("does not let one agent starve another", () => {
    const slots = createSlots({ total: 2, perAgent: () => 2 });
    const busy = Array.from({ length: 50 }, () => slots.request("busy"));
    const other = slots.request("other");
    expect(other.isGranted).toBe(false);
    busy[0]?.release();
    expect(other.isGranted).toBe(true);
    expect(busy[2]?.isGranted).toBe(false);
  });

  it("runs a lone turn in its place, the one with the fewest deaths first", () => {
    const slots = createSlots({ total: 4, perAgent: () => 4 });
    const running = [slots.request("a"), slots.request("b")];
    const often = slots.request("a", { deaths: 9 });
    const seldom = slots.request("a", { deaths: 4 });
    const late = [slots.request("a"), slots.request("b")];
    const granted = () => [often, seldom, ...late].map(({ isGranted }) => isGranted);
    running[0]?.release();
    expect(granted()).toEqual([false, false, false, false]);
    expect(slots.isContended()).toBe(true);
    running[1]?.release();
    expect(granted()).toEqual([false, true, false, false]);
    seldom.release();
    expect(granted()).toEqual([true, false, false, false]);
    often.release();
    expect(granted()).toEqual([false, false, true, true]);
  });

  it("keeps each agent within its limit", () => {
    const slots = createSlots({ total: 10, perAgent: () => 1 });
    const [first, second] = [slots.request("a"), slots.request("a")];
    expect([first.isGranted, second.isGranted, slots.request("b").isGranted]).toEqual([true, false, true]);
    first.release();
    expect(second.isGranted).toBe(true);
  });
});
