import { readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { createPairingStore } from "./access.ts";
import { createDocumentFiles } from "../store/document-files.ts";

const HOUR = 60 * 60_000;

async function openStore() {
  const folder = await temporaryFolder();
  const clock = createTestClock();
  const options = {
    documents: createDocumentFiles(folder.join("pairing")),
    channel: "telegram",
    accountId: "../evil",
    clock,
  };
  const path = folder.join("pairing", "telegram...%2Fevil.json");
  return { ...folder, clock, path, store: createPairingStore(options) };
}

describe("the pairing store", () => {
  it("is private, and stays in its folder for any account name", async () => {
    await using home = await openStore();
    await home.store.offer({ id: "7", name: "Eve" });
    expect((await stat(home.path)).mode & 0o777).toBe(0o600);
    expect((await stat(home.join("pairing"))).mode & 0o777).toBe(0o700);
  });

  it("repeats a code after a minute, not before", async () => {
    await using home = await openStore();
    const first = await home.store.offer({ id: "7" });
    expect(first).toMatchObject({ kind: "told", code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{8}$/) });
    expect((await home.store.offer({ id: "7" })).kind).toBe("silent");
    home.clock.advance(61_000);
    expect(await home.store.offer({ id: "7" })).toEqual(first);
  });

  it("forgets a code after an hour and after its use", async () => {
    await using home = await openStore();
    const first = await home.store.offer({ id: "7" });
    const code = first.kind === "told" ? first.code : "";
    home.clock.advance(HOUR + 1);
    await expect(home.store.approve(code)).rejects.toMatchObject({ kind: "not-found", code: "pairing-code-unknown" });
    const second = await home.store.offer({ id: "7", username: "eve" });
    const newCode = second.kind === "told" ? second.code : "";
    expect(newCode).not.toBe(code);
    expect(await home.store.approve(newCode)).toMatchObject({ id: "7", username: "eve" });
    await expect(home.store.approve(newCode)).rejects.toMatchObject({ kind: "not-found" });
    expect(await home.store.pending()).toEqual([]);
    expect(await home.store.approved()).toMatchObject([{ id: "7" }]);
  });

  it("limits pending strangers", async () => {
    await using home = await openStore();
    for (let id = 0; id < 20; id++) expect((await home.store.offer({ id: String(id) })).kind).toBe("told");
    expect((await home.store.offer({ id: "one too many" })).kind).toBe("silent");
    home.clock.advance(HOUR + 1);
    expect((await home.store.offer({ id: "one too many" })).kind).toBe("told");
  });

  it("loses no concurrent change", async () => {
    await using home = await openStore();
    const offers = await Promise.all(
      Array.from({ length: 10 }, async (_, id) => await home.store.offer({ id: `p${id}` })),
    );
    await Promise.all(offers.map(async (offer) => await home.store.approve(offer.kind === "told" ? offer.code : "")));
    expect(await home.store.approved()).toHaveLength(10);
    expect(await home.store.revoke("p3")).toBe(true);
    expect(await home.store.revoke("p3")).toBe(false);
    expect(await home.store.approved()).toHaveLength(9);
  });

  it.each(["", "{", "[]", '{"version":1,"approved":[{}],"pending":[]}', '{"version":2,"approved":[],"pending":[]}'])(
    "reports an unreadable file (%j) instead of an empty list",
    async (content) => {
      await using home = await openStore();
      await home.store.offer({ id: "7" });
      await writeFile(home.path, content);
      await expect(home.store.approved()).rejects.toMatchObject({ kind: "corrupt", code: "pairing-file-corrupt" });
      await expect(home.store.offer({ id: "8" })).rejects.toMatchObject({ kind: "corrupt" });
      expect(await readFile(home.path, "utf8")).toBe(content);
    },
  );
});
