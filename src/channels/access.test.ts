import { describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { type AccessRequest, checkAccess, decideAccess } from "./access.ts";
import { createPairingStore } from "./pairing-store.ts";

const direct: AccessRequest = {
  channel: "telegram",
  sender: { ids: ["1001"], username: "AdaL", name: "Ada" },
  chatType: "direct",
};
const group: AccessRequest = { ...direct, chatType: "group", groupIds: ["-100"] };

function decide(request: AccessRequest, allowFrom: string[], more: { approvedIds?: string[]; pairing?: boolean } = {}) {
  const { approvedIds = [], pairing = false } = more;
  return decideAccess({ request, allowFrom, approvedIds, offersPairing: pairing });
}

describe("decideAccess", () => {
  it.each(["1001", "telegram:1001", "Telegram:dm:1001", "@adal", "ADAL", " 1001 ", "*"])("lets in by %s", (entry) => {
    expect(decide(direct, [entry])).toEqual({ decision: "allow", commandAuthorized: true });
    expect(decide(group, [entry])).toEqual({ decision: "allow", commandAuthorized: true });
  });

  it.each(["", "100", "10011", "discord:1001", "@ada", "-100"])("does not let in by %j", (entry) => {
    expect(decide(direct, [entry]).decision).toBe("ignore");
  });

  it("takes a number in the list for an id, never for a name", () => {
    const request = { ...direct, sender: { ids: ["5"] as const, username: "1001" } };
    expect(decide(request, ["1001"]).decision).toBe("ignore");
    expect(decide(request, ["@1001"]).decision).toBe("allow");
  });

  it("lets everybody in a listed group speak, but command only those who are listed themselves", () => {
    expect(decide(group, ["telegram:group:-100"])).toEqual({ decision: "allow", commandAuthorized: false });
    expect(decide(group, ["-100", "1001"])).toEqual({ decision: "allow", commandAuthorized: true });
    expect(decide(group, ["-200"]).decision).toBe("ignore");
  });

  it("offers a code to strangers in direct chats only, and only where pairing is on", () => {
    expect(decide(direct, []).decision).toBe("ignore");
    expect(decide(direct, [], { pairing: true }).decision).toBe("offer");
    expect(decide(group, [], { pairing: true }).decision).toBe("ignore");
  });

  it("knows the approved by id alone", () => {
    expect(decide(direct, [], { approvedIds: ["1001"] }).decision).toBe("allow");
    expect(decide(direct, [], { approvedIds: ["AdaL"] }).decision).toBe("ignore");
  });
});

describe("checkAccess", () => {
  it("offers a code, stays silent on the next message, and lets in after approval", async () => {
    await using folder = await temporaryFolder();
    const options = { folder: folder.path, channel: "telegram", accountId: "default", clock: systemClock };
    const store = createPairingStore(options);
    const pairing = { store, offers: true };

    const offered = await checkAccess(direct, { pairing });
    expect(offered.kind).toBe("offered");
    const code = offered.kind === "offered" ? offered.code : "";
    expect(offered.kind === "offered" ? offered.text : "").toContain(code);
    expect((await checkAccess(direct, { pairing })).kind).toBe("ignored");

    // The owner approves from another process, here with another store on the same file.
    await createPairingStore(options).approve(code.toLowerCase());
    expect(await checkAccess(direct, { pairing })).toEqual({ kind: "allowed", commandAuthorized: true });
    expect(await checkAccess(direct, { pairing: { store, offers: false } })).toMatchObject({ kind: "allowed" });
    expect(await checkAccess(group, { allowFrom: ["-100"], pairing })).toEqual({
      kind: "allowed",
      commandAuthorized: true,
    });
    expect((await checkAccess(direct, {})).kind).toBe("ignored");
  });
});
