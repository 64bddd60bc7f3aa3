import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/test-clock.ts";
import type { ChannelStatus } from "../channel.ts";
import { createWhatsAppChannel } from "./create-whatsapp-channel.ts";
import { createSocket, loadBaileys } from "./socket.ts";

it("says how to install Baileys where it is missing", async () => {
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

it("passes on any other failure to load it", async () => {
  const broken = new SyntaxError("broken package");
  await expect(loadBaileys(async () => await Promise.reject(broken))).rejects.toBe(broken);
});

it("keeps trying with Baileys' own socket where nobody answers as WhatsApp, and stops", async () => {
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
    authFolder: folder.join("auth"),
    mediaFolder: folder.join("media"),
    makeSocket: (config) => createSocket(baileys, { ...config, waWebSocketUrl: `ws://127.0.0.1:${port}/` }),
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
