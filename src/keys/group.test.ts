import { expect, it } from "vitest";
import { buildGroupDisplayName } from "./group.ts";

it("keeps the letters of every script", () => {
  expect(buildGroupDisplayName({ provider: "line", subject: "家族 ♥ Été", key: "k" })).toBe("line:g-家族-été");
});

it("falls back to the channel when nothing else is printable", () => {
  expect(buildGroupDisplayName({ provider: "Line", subject: "♥", key: "k" })).toBe("line");
});

it("removes a # from a subject, which would look like a channel", () => {
  expect(buildGroupDisplayName({ provider: "t", subject: "#ops", key: "k" })).toBe("t:g-ops");
});
