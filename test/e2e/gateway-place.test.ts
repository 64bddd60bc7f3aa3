/** A gateway's port, which may be in use, and its home, which may disappear. */
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { gatewayLayout } from "../../src/config/layout.ts";
import { findGateway } from "../../src/gateway/gateway-files.ts";
import { startCliGateway, runCli, runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const USUAL_PORT = 7433;

describe("the usual port in use", () => {
  it("makes a gateway use and announce a free one if none is configured", async () => {
    await using _taken = await takeUsualPort();
    await using folder = await temporaryFolder();
    const home = folder.join("home");
    await mkdir(home);
    await using gateway = await startCliGateway(home, [], { port: "usual" });
    const port = Number(new URL(gateway.announced.url).port);
    expect(port).not.toBe(USUAL_PORT);
    expect(gateway.stderr()).toContain(`Port 7433 is in use by another program; using ${port}.`);
    expect((await runCliShared(["agent", "-m", "found it"], { home })).stdout).toContain("found it");
    expect((await runCli(["gateway", "--json"], { home })).stderr).toContain('"gateway-running"');
  });

  it("does not prevent chat and agent from starting a gateway", async () => {
    await using _taken = await takeUsualPort();
    await using folder = await temporaryFolder();
    const home = folder.join("home");
    await mkdir(home);
    try {
      const { code, stdout, stderr } = await runCliShared(["agent", "-m", "hello"], { home });
      expect([code, stdout]).toEqual([0, expect.stringContaining("hello") as string]);
      const running = await findGateway(home);
      expect(stderr).toContain(`Port 7433 is in use by another program; the gateway uses ${running?.port}.`);
      expect((await runCliShared(["chat"], { home, input: "again\n" })).stdout).toContain("again");
      for (const command of ["start", "restart"]) {
        await runCliShared(["gateway", "stop"], { home });
        const started = await runCliShared(["gateway", command], { home });
        expect(started.stderr).toContain("Port 7433 is in use by another program");
      }
    } finally {
      await runCliShared(["gateway", "stop"], { home });
    }
  });

  it("is an error if it was configured or given", async () => {
    await using _taken = await takeUsualPort();
    await using home = await temporaryFolder();
    const given = await runCli(["gateway", "--port", "7433"], { home: home.path });
    expect([given.code, given.stderr]).toEqual([1, expect.stringContaining("Another program listens on") as string]);
    await writeFile(home.join("config.json"), '{"gateway":{"port":7433}}');
    const configured = await runCli(["gateway", "--json"], { home: home.path });
    expect([configured.code, configured.stderr]).toEqual([1, expect.stringContaining('"port-in-use"') as string]);
    expect((await runCliShared(["agent", "-m", "hello"], { home: home.path })).code).toBe(1);
  });
});

// They mostly wait.
describe.concurrent("a home that disappears", () => {
  it("ends its gateway, which does not recreate it", async () => {
    await using folder = await temporaryFolder();
    const home = folder.join("home");
    await mkdir(home);
    await using gateway = await startCliGateway(home);
    expect((await runCliShared(["agent", "-m", "hello"], { home })).code).toBe(0);
    await rm(home, { recursive: true });
    expect(await endOf(gateway.ended)).toBe(3);
    expect(gateway.stderr()).toContain(`The home ${home} was deleted or moved. The gateway exits.`);
    await delay(500);
    expect(existsSync(home)).toBe(false);
    await expect(fetch(`${gateway.announced.url}/health`)).rejects.toThrow("fetch failed");
  });

  it("and is replaced by another folder ends its gateway, which leaves the new one alone", async () => {
    await using folder = await temporaryFolder();
    const home = folder.join("home");
    await mkdir(home);
    await using gateway = await startCliGateway(home);
    expect((await runCliShared(["agent", "-m", "hello"], { home })).code).toBe(0);
    await rename(home, folder.join("moved"));
    await mkdir(home);
    expect(await endOf(gateway.ended)).toBe(3);
    expect(await readdir(home)).toEqual([]);
  });

  it("counts as replaced if the gateway's files are gone: a new folder may reuse the inode", async () => {
    await using folder = await temporaryFolder();
    await using gateway = await startCliGateway(folder.path);
    await rm(gatewayLayout(folder.path).runtimeFile);
    expect(await endOf(gateway.ended)).toBe(3);
    expect(gateway.stderr()).toContain("commands cannot find this gateway");
  });

  it("does not include one that stays: its gateway continues", async () => {
    await using folder = await temporaryFolder();
    await using gateway = await startCliGateway(folder.path);
    await writeFile(folder.join("something"), "else");
    const { runtimeFile } = gatewayLayout(folder.path);
    await writeFile(runtimeFile, await readFile(runtimeFile));
    await delay(2500);
    expect((await fetch(`${gateway.announced.url}/health`)).status).toBe(200);
  });
});

async function endOf(ended: Promise<unknown>): Promise<unknown> {
  return await Promise.race([ended, delay(20_000, "it still runs")]);
}

/** Occupies the usual port, unless another program already does. */
async function takeUsualPort(): Promise<AsyncDisposable> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once("error", () => resolve());
    server.listen({ host: "127.0.0.1", port: USUAL_PORT }, () => resolve());
  });
  return {
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}
