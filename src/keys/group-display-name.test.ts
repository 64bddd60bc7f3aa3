import { expect, it } from "vitest";
import { buildGroupDisplayName } from "./group-display-name.ts";

it("keeps the letters of every script", () => {
  expect(buildGroupDisplayName({ provider: "line", subject: "家族 ♥ Été", key: "k" })).toBe("line:g-家族-été");
});

it("falls back to the channel when nothing else is printable", () => {
  expect(buildGroupDisplayName({ provider: "Line", subject: "♥", key: "k" })).toBe("line");
});

it("takes the # off a subject, which would make it look like a channel", () => {
  expect(buildGroupDisplayName({ provider: "t", subject: "#ops", key: "k" })).toBe("t:g-ops");
});
