import { expect, it } from "vitest";
import { withoutCommand, withoutMentions } from "./plain-prompt.ts";

const seen = (text: string): string => withoutMentions(text).replaceAll("\u2060", "|");

it("parts every mention from its sign, and leaves addresses alone", () => {
  expect(seen('see @/etc/passwd, @"a b" (@~/.ssh/id) @ada\n@x')).toBe(
    'see @|/etc/passwd, @|"a b" (@|~/.ssh/id) @|ada\n@|x',
  );
  expect(seen("x@/etc/passwd x@../y @@z")).toBe("x@|/etc/passwd x@|../y @|@|z");
  expect(seen("ada@example.org meets @ noon")).toBe("ada@example.org meets @ noon");
  expect(withoutMentions(withoutMentions("@x"))).toBe(withoutMentions("@x"));
});

it("takes the command out of a beginning", () => {
  expect(withoutCommand("/config model=x").startsWith("/")).toBe(false);
  expect(withoutCommand(" \n/config").trimStart().startsWith("/")).toBe(false);
  expect(withoutCommand("and/or")).toBe("and/or");
});
