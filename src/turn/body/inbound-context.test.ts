import { describe, expect, it } from "vitest";
import { finalizeInboundContext } from "./inbound.ts";

describe("finalizeInboundContext", () => {
  it("fills in missing text fields", () => {
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

  it("keeps given text fields", () => {
    const given = { Body: "b", CommandBody: "c", BodyForAgent: "a", BodyForCommands: "/x", BodyStripped: "s\r\n" };
    expect(finalizeInboundContext(given)).toMatchObject({ ...given, BodyStripped: "s\n" });
  });

  it("changes nothing the second time, and does not change its argument", () => {
    const ctx = { Body: "x\r\ny", ChatType: " DM ", UntrustedContext: ["q\r\n", "  "], CommandAuthorized: true };
    const before = structuredClone(ctx);
    const once = finalizeInboundContext(ctx);
    expect(once).toMatchObject({ ChatType: "direct", UntrustedContext: ["q\n"], CommandAuthorized: true });
    expect(finalizeInboundContext(once)).toEqual(once);
    expect(ctx).toEqual(before);
  });

  it("reads a missing chat type from the address", () => {
    expect(finalizeInboundContext({ From: "telegram:group:-100" }).ChatType).toBe("group");
    expect(finalizeInboundContext({ From: "discord:channel:1" }).ChatType).toBe("channel");
    expect(finalizeInboundContext({ From: "telegram:5" }).ChatType).toBeUndefined();
  });
});
