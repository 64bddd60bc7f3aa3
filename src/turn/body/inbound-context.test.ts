import { describe, expect, it } from "vitest";
import { finalizeInboundContext } from "./inbound-context.ts";

describe("finalizeInboundContext", () => {
  it("fills in the variants that a channel left out", () => {
    expect(finalizeInboundContext({ Body: "[17:35] a\r\nb", RawBody: "a\rb" })).toMatchObject({
      Body: "[17:35] a\nb",
      RawBody: "a\nb",
      BodyForAgent: "[17:35] a\nb",
      BodyForCommands: "a\nb",
    });
    expect(finalizeInboundContext({ RawBody: "a" })).toMatchObject({ Body: "a", BodyForAgent: "a" });
    expect(finalizeInboundContext({})).toEqual({
      Body: "",
      BodyForAgent: "",
      BodyForCommands: "",
      CommandAuthorized: false,
    });
  });

  it("keeps the variants that a channel gave", () => {
    const given = { Body: "b", CommandBody: "c", BodyForAgent: "a", BodyForCommands: "/x", BodyStripped: "s\r\n" };
    expect(finalizeInboundContext(given)).toMatchObject({ ...given, BodyStripped: "s\n" });
  });

  it("changes nothing the second time, and nothing of the object it was given", () => {
    const ctx = { Body: "x\r\ny", ChatType: " DM ", UntrustedContext: ["q\r\n", "  "], CommandAuthorized: true };
    const before = structuredClone(ctx);
    const once = finalizeInboundContext(ctx);
    expect(once).toMatchObject({ ChatType: "direct", UntrustedContext: ["q\n"], CommandAuthorized: true });
    expect(finalizeInboundContext(once)).toEqual(once);
    expect(ctx).toEqual(before);
  });

  it("reads the chat type from the address when nobody named it", () => {
    expect(finalizeInboundContext({ From: "telegram:group:-100" }).ChatType).toBe("group");
    expect(finalizeInboundContext({ From: "discord:channel:1" }).ChatType).toBe("channel");
    expect(finalizeInboundContext({ From: "telegram:5" }).ChatType).toBeUndefined();
  });
});
