/** Linking, lost and stopped connections to WhatsApp, and the keys that are kept. */
import { readdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { failure, neverButAborted, soon, texts } from "../../../test/support/channel-host.ts";
import { ada, createWhatsAppHome, target } from "../../../test/support/fake-whatsapp.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/time.ts";
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import type { ChannelStatus } from "../channel.ts";
import { createWhatsAppChannel } from "./channel.ts";
import { loadBaileys } from "./connection.ts";
import { createDocumentFiles } from "../../store/document-files.ts";

describe("the connection to WhatsApp", () => {
  it("shows a code to scan, stores the keys privately and reconnects with them", async () => {
    await using home = await createWhatsAppHome();
    const { channel, start } = home.create();
    const started = start();
    await expect.poll(() => home.whatsapp.made, soon).toBe(1);
    home.whatsapp.showCode("2@abc");
    expect(home.statuses.at(-1)).toMatchObject({ state: "starting", loginCode: "2@abc" });
    home.whatsapp.pair();
    await expect.poll(() => home.whatsapp.made, soon).toBe(2);
    home.whatsapp.open();
    await started;
    expect(home.statuses.at(-1)).toEqual({ state: "connected", text: "WhatsApp: connected as Agent." });
    expect(home.statuses.some(({ state }) => state === "retrying")).toBe(false);
    const identity = home.whatsapp.config.auth.creds.noiseKey;
    await channel.stop();

    const folder = home.folder.join("auth");
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(home.folder.join("auth", "creds.json"))).mode & 0o777).toBe(0o600);
    await home.start();
    expect(home.whatsapp.config.auth.creds.me?.name).toBe("Agent");
    expect(Buffer.from(home.whatsapp.config.auth.creds.noiseKey.private)).toEqual(Buffer.from(identity.private));
  });

  it("reconnects with growing pauses, and reports it", async () => {
    await using home = await createWhatsAppHome();
    const pauses: number[] = [];
    const clock = createTestClock();
    await home.start({
      clock: {
        now: () => clock.now(),
        sleep: async (ms) => {
          pauses.push(ms);
        },
      },
    });
    for (const [index, status] of [428, 408, 503, 500].entries()) {
      home.whatsapp.close(status);
      await expect.poll(() => home.whatsapp.made, soon).toBe(index + 2);
    }
    expect(home.statuses.at(-1)?.state).toBe("retrying");
    expect(pauses).toHaveLength(4);
    expect(pauses.toSorted((one, other) => one - other)).toEqual(pauses);
    home.whatsapp.open();
    expect(home.statuses.at(-1)?.state).toBe("connected");
    home.whatsapp.receive(home.whatsapp.message({ from: ada, text: "back?" }));
    await expect.poll(() => texts(home), soon).toEqual(["back?"]);
    home.whatsapp.close(428);
    await expect.poll(() => pauses.length, soon).toBe(5);
    expect(pauses.at(-1)).toBeLessThanOrEqual(1000);
  });

  it("forgets a logged-out device, so that the next start shows a code", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    const before = home.whatsapp.config.auth.creds.noiseKey;
    await home.whatsapp.config.auth.keys.set({ "pre-key": { "1": before } });
    home.whatsapp.close(401);
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("failed");
    expect(home.statuses.at(-1)?.text).toContain("holdfast channels login");
    expect(await readdir(home.folder.join("auth"))).toEqual([]);
    expect((await failure(channel.send({ target: target(ada), idempotencyKey: "1", text: "x" }))).code).toBe(
      "channel-not-connected",
    );
    await channel.stop();
    await home.start();
    expect(home.whatsapp.config.auth.creds.noiseKey).not.toEqual(before);
  });

  it.each<[number, string]>([
    [401, "whatsapp-logged-out"],
    [403, "whatsapp-forbidden"],
    [405, "whatsapp-outdated"],
    [411, "whatsapp-multi-device"],
    [440, "whatsapp-replaced"],
  ])("fails at start for %i and does not retry", async (status, code) => {
    await using home = await createWhatsAppHome();
    const started = failure(home.create().start());
    await expect.poll(() => home.whatsapp.made, soon).toBe(1);
    home.whatsapp.close(status);
    const error = await started;
    expect(error.code).toBe(code);
    expect(error.hint).toBeDefined();
    expect(home.statuses.at(-1)?.state).toBe("failed");
    expect(home.whatsapp.made).toBe(1);
  });

  it("can be stopped while waiting for a scan, and during a pause", async () => {
    await using home = await createWhatsAppHome();
    const waiting = home.create();
    const first = failure(waiting.start());
    await expect.poll(() => home.whatsapp.made, soon).toBe(1);
    await waiting.channel.stop();
    expect((await first).kind).toBe("interrupted");

    const pausing = home.create({ clock: { now: () => 0, sleep: neverButAborted } });
    const second = failure(pausing.start());
    await expect.poll(() => home.whatsapp.made, soon).toBe(2);
    home.whatsapp.close(503);
    await expect.poll(() => home.statuses.at(-1)?.state, soon).toBe("retrying");
    await pausing.channel.stop();
    expect((await second).kind).toBe("interrupted");
  });

  it("stores keys with any name, and reports a damaged file", async () => {
    await using home = await createWhatsAppHome();
    const channel = await home.start();
    const { keys } = home.whatsapp.config.auth;
    const id = "../../evil/1555:2";
    await keys.set({ session: { [id]: Buffer.from("ratchet"), "1": Buffer.from("x") }, "lid-mapping": { "7": "8" } });
    await keys.set({ session: { "1": null } });
    expect(Buffer.from((await keys.get("session", [id]))[id] ?? []).toString()).toBe("ratchet");
    expect(await keys.get("session", ["1"])).toEqual({});
    expect(await keys.get("lid-mapping", ["7"])).toEqual({ "7": "8" });
    const names = await readdir(home.folder.join("auth"));
    expect(names.toSorted()).toEqual(["lid-mapping-7.json", "session-..%2f..%2fevil%2f1555%3a2.json"]);
    await channel.stop();
    await writeFile(home.folder.join("auth", "creds.json"), '{"noiseKey":');
    const error = await failure(home.create().start());
    expect(error.code).toBe("whatsapp-keys-unreadable");
    expect(error.hint).toContain("backup");
    expect(home.statuses.at(-1)?.state).toBe("failed");
  });
});

it("says how to install Baileys if it is missing", async () => {
  const missing = Object.assign(new Error("Cannot find package 'baileys'"), { code: "ERR_MODULE_NOT_FOUND" });
  const error: unknown = await loadBaileys(async () => await Promise.reject(missing)).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({
    code: "whatsapp-library-missing",
    hint: expect.stringContaining("npm install baileys"),
  });
});

it("rethrows any other failure to load it", async () => {
  const broken = new SyntaxError("broken package");
  await expect(loadBaileys(async () => await Promise.reject(broken))).rejects.toBe(broken);
});

it("retries with Baileys' own socket while nothing answers, and stops", async () => {
  await using folder = await temporaryFolder();
  const baileys = await loadBaileys();
  let calls = 0;
  const server = createServer((_, response) => void response.writeHead(503).end());
  server.on("upgrade", (_, socket) => {
    calls += 1;
    // The other side may hang up first.
    socket.on("error", () => undefined);
    if (calls % 2 === 0) socket.destroy();
    else socket.end("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const statuses: ChannelStatus[] = [];
  const channel = createWhatsAppChannel({
    accountId: "default",
    keys: createDocumentFiles(folder.join("auth")),
    mediaFolder: folder.join("media"),
    makeSocket: (config) => baileys.makeWASocket({ ...config, waWebSocketUrl: `ws://127.0.0.1:${port}/` }),
    connectTimeoutMs: 100,
    clock: createTestClock(),
    logger: silentLogger,
  });
  const started = channel
    .start({ admit: async () => {}, report: (status) => void statuses.push(status) })
    .catch((error: unknown) => error);
  await expect.poll(() => calls, { timeout: 10_000, interval: 10 }).toBeGreaterThan(2);
  await channel.stop();
  expect(await started).toMatchObject({ code: "channel-stopped" });
  expect(statuses.filter(({ state }) => state === "retrying").length).toBeGreaterThan(1);
  expect(statuses.at(-1)?.state).toBe("stopped");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
