import { describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { type AccessOptions, type AccessRequest, createPairingStore, screenSender, standingOf } from "./access.ts";
import { createDocumentFiles } from "../store/document-files.ts";

const direct: AccessRequest = {
  channel: "telegram",
  sender: { ids: ["1001"], username: "AdaL", name: "Ada" },
};
const group: AccessRequest = { ...direct, groupIds: ["-100"] };

describe("the allow list", () => {
  it.each(["1001", "telegram:1001", "Telegram:dm:1001", "@adal", "ADAL", " 1001 ", "*"])(
    "admits a sender by %s",
    (entry) => {
      expect([standingOf(direct, [entry]), standingOf(group, [entry])]).toEqual(["known", "known"]);
    },
  );

  it.each(["", "100", "10011", "discord:1001", "@ada", "-100"])("does not admit a sender by %j", (entry) => {
    expect(standingOf(direct, [entry])).toBe("stranger");
  });

  it("reads a number in the list as an id, never as a name", () => {
    const request = { ...direct, sender: { ids: ["5"] as const, username: "1001" } };
    expect(standingOf(request, ["1001"])).toBe("stranger");
    expect(standingOf(request, ["@1001"])).toBe("known");
  });

  it("admits all members of a listed group", () => {
    expect(standingOf(group, ["telegram:group:-100"])).toBe("member");
    expect(standingOf(group, ["-100", "1001"])).toBe("known");
    expect(standingOf(group, ["-200"])).toBe("stranger");
  });
});

describe("screenSender", () => {
  it("offers a code once, and admits the sender after approval", async () => {
    await using folder = await temporaryFolder();
    const options = {
      documents: createDocumentFiles(folder.path),
      channel: "telegram",
      accountId: "default",
      clock: systemClock,
    };
    const store = createPairingStore(options);
    const codes: string[] = [];
    const screen = async (request: AccessRequest, access: AccessOptions = { pairing: { store, offers: true } }) =>
      await screenSender(request, { ...access, logger: silentLogger }, async (text, code) => {
        expect(text).toContain(code);
        codes.push(code);
        throw new Error("the chat is closed");
      });

    expect(await screen(direct, { pairing: { store, offers: false } })).toBeUndefined();
    expect(await screen(group)).toBeUndefined();
    expect(codes).toEqual([]);
    expect(await screen(group, { allowFrom: ["-100"] })).toEqual({ commandAuthorized: false });
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
    const namesake: AccessRequest = { ...direct, sender: { ids: ["AdaL"], username: "1001" } };
    expect(await screen(namesake, { pairing: { store, offers: false } })).toBeUndefined();
  });
});
