import { describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { type AccessOptions, type AccessRequest, decideAccess, screenSender, createPairingStore } from "./access.ts";

const direct: AccessRequest = {
  channel: "telegram",
  sender: { ids: ["1001"], username: "AdaL", name: "Ada" },
};
const group: AccessRequest = { ...direct, groupIds: ["-100"] };

function decide(request: AccessRequest, allowFrom: string[], more: { approvedIds?: string[]; pairing?: boolean } = {}) {
  const { approvedIds = [], pairing = false } = more;
  return decideAccess(request, allowFrom, approvedIds, pairing);
}

describe("decideAccess", () => {
  it.each(["1001", "telegram:1001", "Telegram:dm:1001", "@adal", "ADAL", " 1001 ", "*"])(
    "admits a sender by %s",
    (entry) => {
      expect(decide(direct, [entry])).toEqual({ decision: "allow", commandAuthorized: true });
      expect(decide(group, [entry])).toEqual({ decision: "allow", commandAuthorized: true });
    },
  );

  it.each(["", "100", "10011", "discord:1001", "@ada", "-100"])("does not admit a sender by %j", (entry) => {
    expect(decide(direct, [entry]).decision).toBe("ignore");
  });

  it("reads a number in the list as an id, never as a name", () => {
    const request = { ...direct, sender: { ids: ["5"] as const, username: "1001" } };
    expect(decide(request, ["1001"]).decision).toBe("ignore");
    expect(decide(request, ["@1001"]).decision).toBe("allow");
  });

  it("admits all members of a listed group, but obeys commands only from listed senders", () => {
    expect(decide(group, ["telegram:group:-100"])).toEqual({ decision: "allow", commandAuthorized: false });
    expect(decide(group, ["-100", "1001"])).toEqual({ decision: "allow", commandAuthorized: true });
    expect(decide(group, ["-200"]).decision).toBe("ignore");
  });

  it("offers a code only in direct chats, and only if pairing is on", () => {
    expect(decide(direct, []).decision).toBe("ignore");
    expect(decide(direct, [], { pairing: true }).decision).toBe("offer");
    expect(decide(group, [], { pairing: true }).decision).toBe("ignore");
  });

  it("matches approved senders by id only", () => {
    expect(decide(direct, [], { approvedIds: ["1001"] }).decision).toBe("allow");
    expect(decide(direct, [], { approvedIds: ["AdaL"] }).decision).toBe("ignore");
  });
});

describe("screenSender", () => {
  it("offers a code once, and admits the sender after approval", async () => {
    await using folder = await temporaryFolder();
    const options = { folder: folder.path, channel: "telegram", accountId: "default", clock: systemClock };
    const store = createPairingStore(options);
    const codes: string[] = [];
    const screen = async (request: AccessRequest, access: AccessOptions = { pairing: { store, offers: true } }) =>
      await screenSender(request, { ...access, logger: silentLogger }, async (text, code) => {
        expect(text).toContain(code);
        codes.push(code);
        throw new Error("the chat is closed");
      });

    expect(await screen(direct)).toBeUndefined();
    expect(await screen(direct)).toBeUndefined();
    expect(codes).toHaveLength(1);

    // The owner approves from another process, here with another store on the same file.
    await createPairingStore(options).approve(String(codes[0]).toLowerCase());
    expect(await screen(direct)).toEqual({ commandAuthorized: true });
    expect(await screen(direct, { pairing: { store, offers: false } })).toEqual({ commandAuthorized: true });
    const inGroup = { allowFrom: ["-100"], pairing: { store, offers: true } };
    expect(await screen(group, inGroup)).toEqual({ commandAuthorized: true });
    expect(await screen(direct, {})).toBeUndefined();
  });
});
