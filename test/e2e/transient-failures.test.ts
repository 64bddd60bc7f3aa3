/** A real gateway that cannot work for a while reports it and recovers. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { type Socket, connect } from "node:net";
import { describe, expect, it } from "vitest";
import { agentLayout, gatewayLayout } from "../../src/config/layout.ts";
import { startCliGateway, runCliShared } from "../support/cli.ts";
import { startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";

interface Answer {
  status: number;
  text: string;
}

describe("without file descriptors", () => {
  // Again if it failed: on a busy machine a descriptor can become free between the check and the call.
  it("calls fail with a hint and /health says why; everything works once some are free", { retry: 2 }, async () => {
    await using home = await temporaryFolder();
    await using gateway = await startCliGateway(home.path, [], { openFiles: 64 });
    const token = (await readFile(gatewayLayout(home.path).tokenFile, "utf8")).trim();
    const port = Number(new URL(gateway.announced.url).port);
    // One connection for all: a new one would need a descriptor.
    const line = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (method: string, params: object, agent?: Agent): Promise<Answer> =>
      await send(port, { path: `/rpc/${method}`, token, body: JSON.stringify(params), agent });
    const health = async (): Promise<Answer> => await send(port, { path: "/health", agent: line });
    // Starting takes descriptors too.
    await until(async () => (await health()).text === '{"ok":true}');

    const idle: Socket[] = [];
    // While one descriptor is left, the store's check and the file's check compete for it: take that one too.
    const takeAll = async (): Promise<true> =>
      await until(async () => {
        for (let count = 0; count < 16; count++) idle.push(connect({ host: "127.0.0.1", port }).on("error", () => {}));
        const { status, text } = await health();
        return status === 503 && text === '{"ok":false,"reason":"files cannot be written (EMFILE)"}';
      });
    const calls: [string, object][] = [
      ["sessions.list", {}],
      ["cc.list", {}],
      ["agents.list", {}],
      ["chat.send", { sessionKey: "x", message: "hello", idempotencyKey: "1" }],
    ];
    // The first calls of this gateway: nothing that they need is loaded.
    for (const [method, params] of calls) {
      // A call that failed may have freed some.
      await takeAll();
      const { status, text } = await ask(method, params, line);
      expect([method, status, text]).toEqual([method, 503, expect.stringContaining("too-many-open-files") as string]);
    }

    for (const socket of idle) socket.destroy();
    await until(async () => (await health()).status === 200);
    for (const [method, params] of calls) expect([method, (await ask(method, params)).status]).toEqual([method, 200]);
    const answer = await ask("agent", { message: "are you there?" });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("are you there?") as string]);
    expect(await health()).toEqual({ status: 200, text: '{"ok":true}' });
    line.destroy();
  });

  it("every call of a burst ends, and later calls work", async () => {
    await using home = await temporaryFolder();
    await using gateway = await startCliGateway(home.path, [], { openFiles: 64 });
    const token = (await readFile(gatewayLayout(home.path).tokenFile, "utf8")).trim();
    const port = Number(new URL(gateway.announced.url).port);
    const ask = async (method: string, params: object, agent?: Agent): Promise<Answer> =>
      await send(port, { path: `/rpc/${method}`, token, body: JSON.stringify(params), agent });
    const lines = new Agent({ keepAlive: true });
    const burst = Array.from({ length: 200 }, async (_, index) => {
      const method = ["sessions.list", "cc.list", "agents.list", "status"][index % 4] ?? "status";
      return await ask(method, {}, lines);
    });
    await Promise.all(burst);
    // Its connections would still keep the descriptors that a turn needs.
    lines.destroy();
    for (const method of ["sessions.list", "cc.list", "agents.list", "status", "health"]) {
      await until(async () => (await ask(method, {})).status === 200);
    }
    expect((await ask("agent", { message: "hello" })).text).toContain("hello");
    expect((await send(port, { path: "/health" })).text).toBe('{"ok":true}');
  });
});

describe("with few file descriptors", () => {
  it("conversations that ended do not keep them", async () => {
    await using home = await temporaryFolder();
    await using gateway = await startCliGateway(home.path, [], { openFiles: 64 });
    const token = (await readFile(gatewayLayout(home.path).tokenFile, "utf8")).trim();
    const port = Number(new URL(gateway.announced.url).port);
    const line = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; index < 30; index++) {
      const body = JSON.stringify({ sessionKey: `agent:main:s${index}`, message: "hello" });
      const { status, text } = await send(port, { path: "/rpc/agent", token, body, agent: line });
      expect([status, text]).toEqual([200, expect.stringContaining("hello") as string]);
    }
    // A new connection needs a descriptor.
    expect(await send(port, { path: "/health" })).toEqual({ status: 200, text: '{"ok":true}' });
    line.destroy();
  });
});

describe("a database that cannot be opened", () => {
  it("is reported by /health, health and status, and opened by the next call", async () => {
    await using home = await temporaryFolder();
    const { database } = agentLayout(home.path, "main");
    await mkdir(database, { recursive: true });
    await using gateway = await startCliGateway(home.path);
    const port = Number(new URL(gateway.announced.url).port);
    expect(await send(port, { path: "/health" })).toEqual({
      status: 503,
      text: '{"ok":false,"reason":"the store of an agent does not work"}',
    });
    const health = await runCliShared(["health", "--json"], { home: home.path });
    expect([health.code, health.json()]).toMatchObject([5, { ok: false, problems: [expect.stringContaining("main")] }]);
    expect((await runCliShared(["status"], { home: home.path })).code).toBe(5);
    expect((await runCliShared(["agent", "-m", "hello"], { home: home.path })).code).not.toBe(0);

    await rm(database, { recursive: true });
    expect((await runCliShared(["agent", "-m", "hello"], { home: home.path })).stdout).toContain("hello");
    expect(await send(port, { path: "/health" })).toEqual({ status: 200, text: '{"ok":true}' });
    expect((await runCliShared(["health"], { home: home.path })).code).toBe(0);
    expect((await runCliShared(["status"], { home: home.path })).code).toBe(0);
  });
});

describe("a channel that cannot be opened", () => {
  it("is opened later without a restart, when its files can be read", async () => {
    await using home = await temporaryFolder();
    await using telegram = await startFakeTelegram();
    const tokenFile = home.join("telegram.token");
    await mkdir(tokenFile);
    const account = { apiRoot: telegram.url, allowFrom: ["*"], tokenFile };
    await writeFile(home.join("config.json"), JSON.stringify({ channels: { telegram: { default: account } } }));
    await using _gateway = await startCliGateway(home.path);
    const health = async (): Promise<unknown> => (await runCliShared(["health", "--json"], { home: home.path })).json();
    await until(async () => JSON.stringify(await health()).includes("EISDIR"));
    await rm(tokenFile, { recursive: true });
    await writeFile(tokenFile, telegram.token);
    telegram.say("hello there");
    await until(() => telegram.sent.some(({ params }) => String(params["text"]).includes("hello there")));
    expect(await health()).toMatchObject({ ok: true, problems: [] });
  });
});

interface Sending {
  path: string;
  token?: string;
  body?: string;
  agent?: Agent | undefined;
}

/** Status 0 when there is no answer. */
async function send(port: number, { path, token, body, agent }: Sending): Promise<Answer> {
  return await new Promise((resolve) => {
    const headers = {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const method = body === undefined ? "GET" : "POST";
    const asked = request({ host: "127.0.0.1", port, path, method, headers, agent, timeout: 10_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.on("error", (error) => resolve({ status: 0, text: error.message }));
    asked.on("timeout", () => asked.destroy(new Error("no answer in time")));
    asked.end(body);
  });
}
