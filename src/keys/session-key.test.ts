import { expect, it } from "vitest";
import { sessionKindOf } from "./session-key.ts";

it.each([
  ["agent:main:discord:channel:123", "group"],
  ["agent:main:whatsapp:group:1@g.us", "group"],
  ["agent:main:slack:channel:c1:thread:5", "group"],
  ["group:1", "group"],
  ["agent:main:main", "direct"],
  ["main", "direct"],
  ["agent:main:telegram:dm:group:5", "direct"],
  ["agent:main:subagent:group:5", "direct"],
  ["global", "global"],
  ["unknown", "unknown"],
  ["agent:main:unknown", "unknown"],
])("%s is %s", (key, kind) => {
  expect(sessionKindOf(key)).toBe(kind);
});

it("uses the entry if the key says nothing", () => {
  expect(sessionKindOf("agent:main:main", { chatType: "channel" })).toBe("group");
  expect(sessionKindOf("agent:main:main", { chatType: "direct" })).toBe("direct");
});
