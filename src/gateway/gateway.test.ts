/** The gateway and its clients, from its start to its end. */
import { mkdir, readdir, rmdir, writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import { connect as connectTcp } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { until } from "../../test/support/time.ts";
import { currentProcess } from "../base/processes.ts";
import { gatewayLayout } from "../config/layout.ts";
import { connectRpc, createHttpCaller } from "../rpc/client.ts";
import { connectToGateway, requireGateway, findGateway } from "./gateway-files.ts";
import { CLOSE_CODES, type RpcEvent } from "../rpc/protocol.ts";
import { lastMessages } from "../transcript/reader.ts";

const KEY = "agent:main:main";

describe("the protocol", () => {
  it("greets with version, methods and events, then answers by id", async () => {
    await using home = await createGatewayHome();
    const client = await connectToGateway({ home: home.home });
    expect(client.hello).toMatchObject({
      protocol: 1,
      server: { name: "holdfast", version: "1.2.3" },
      permission: "admin",
    });
    expect(client.hello.methods).toContain("sessions.list");
    expect(client.hello.events).toContain("turn.ended");
    const answers = await Promise.all([client.call("agents.list", {}), client.call("channels.status", {})]);
    expect(answers).toMatchObject([{ defaultId: "main" }, { channels: [{ channel: "web" }, { channel: "telegram" }] }]);
    client.close();
    expect(await client.closed).toMatchObject({ code: 1000 });
    await expect(client.call("health", {})).rejects.toMatchObject({ code: "connection-lost" });
  });

  it("numbers events without gaps and filters by session and name", async () => {
    await using home = await createGatewayHome();
    const socket = new WebSocket(`${home.gateway.url.replace("http", "ws")}/ws`);
    const frames: { type: string; id?: string; event?: string; seq?: number; ok?: boolean }[] = [];
    socket.on("message", (data) => frames.push(JSON.parse((data as Buffer).toString()) as (typeof frames)[number]));
    await new Promise((resolve) => socket.on("open", resolve));
    const { token } = home.gateway;
    const send = (id: string, method: string, params: unknown): void => {
      socket.send(JSON.stringify({ type: "req", id, method, params }));
    };
    // Sent at once: the second must not overtake the first.
    send("1", "connect", { minProtocol: 1, maxProtocol: 3, token, client: { name: "raw" } });
    send("2", "events.subscribe", { sessionKeys: [KEY], events: ["turn.text", "turn.ended"] });
    await until(() => frames.length === 2);
    expect(frames).toMatchObject([
      { type: "res", id: "1", ok: true },
      { type: "res", id: "2", ok: true },
    ]);
    const { call } = createHttpCaller(home.gateway);
    await call("agent", { message: "elsewhere", sessionKey: "agent:main:other" });
    await call("agent", { message: "one", sessionKey: KEY });
    await call("agent", { message: "two", sessionKey: KEY });
    await until(() => frames.length === 6);
    expect(frames.slice(2).map(({ event, seq }) => [event, seq])).toEqual([
      ["turn.text", 1],
      ["turn.ended", 2],
      ["turn.text", 3],
      ["turn.ended", 4],
    ]);
    socket.close();
  });

  it("sends no events to a client without a subscription", async () => {
    await using home = await createGatewayHome();
    const client = await connectToGateway({ home: home.home });
    const events: RpcEvent[] = [];
    client.onEvent((event) => void events.push(event));
    await client.call("agent", { message: "hello" });
    await client.call("events.subscribe", {});
    await client.call("agent", { message: "hello" });
    const told = events.length;
    expect(told).toBe(4);
    await client.call("events.subscribe", { sessionKeys: [] });
    await client.call("agent", { message: "hello" });
    expect(events).toHaveLength(told);
    client.close();
  });

  // Again if it failed, because a busy machine is slow too.
  it("ends an HTTP call when its caller disconnects, while the turn continues", { retry: 2 }, async () => {
    await using home = await createGatewayHome();
    home.pipeline.hold();
    const gone = new AbortController();
    const waiting = createHttpCaller(home.gateway).call("agent", { message: "slow" }, { signal: gone.signal });
    await until(() => home.pipeline.status().running.length === 1);
    gone.abort();
    await expect(waiting).rejects.toThrow("aborted");
    // The call has ended although the turn runs, so closing does not wait.
    const startedAt = performance.now();
    await home.gateway.close();
    expect(performance.now() - startedAt).toBeLessThan(900);
    home.pipeline.release();
    await home.pipeline.drain();
    const entry = await home.agent.store.get("main");
    expect(await lastMessages(String(entry?.sessionFile), { limit: 5, maxChars: 50 })).toHaveLength(2);
  });

  it("refuses events over HTTP", async () => {
    await using home = await createGatewayHome();
    const response = await home.post("events.subscribe");
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: "events-need-websocket" } }]);
  });

  it("refuses a client that speaks another version", async () => {
    await using home = await createGatewayHome();
    const socket = new WebSocket(`${home.gateway.url.replace("http", "ws")}/ws`);
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    await new Promise((resolve) => socket.on("open", resolve));
    const params = { minProtocol: 2, maxProtocol: 9, token: home.gateway.token, client: { name: "raw" } };
    socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
    expect(await closed).toBe(CLOSE_CODES.protocolMismatch);
  });
});

describe("a slow client", () => {
  it("is disconnected with its own code, and the others get everything", async () => {
    await using home = await createGatewayHome({ limits: { maxBufferedBytes: 100_000 } });
    const { url, token } = home.gateway;
    const quick = await connectRpc({ url, token, client: { name: "quick" } });
    const seen: RpcEvent[] = [];
    quick.onEvent((event) => void seen.push(event));
    await quick.call("events.subscribe", {});

    const slow = new WebSocket(`${url.replace("http", "ws")}/ws`);
    const closed = new Promise<number>((resolve) => slow.on("close", resolve));
    await new Promise((resolve) => slow.on("open", resolve));
    const answers: string[] = [];
    slow.on("message", (data) => answers.push((data as Buffer).toString()));
    slow.send(
      JSON.stringify({
        type: "req",
        id: "1",
        method: "connect",
        params: { minProtocol: 1, maxProtocol: 1, token, client: { name: "slow" } },
      }),
    );
    slow.send(JSON.stringify({ type: "req", id: "2", method: "events.subscribe", params: {} }));
    // A slow machine also gets the challenge for OpenClaw's clients.
    await until(() => answers.filter((answer) => answer.includes('"res"')).length === 2);
    slow.pause();
    const text = "x".repeat(50_000);
    let told = 0;
    for (; told < 400; told++) {
      home.pipeline.events.emit({ type: "turn.text", text, agentId: "main", sessionKey: KEY, itemId: told });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => seen.length === told);
    await until(async () => (await createHttpCaller(home.gateway).call("health", {})).ok);
    slow.resume();
    // 1006: the gateway did not wait for its close frame to be read.
    expect([CLOSE_CODES.tooSlow, 1006]).toContain(await closed);
    expect(answers.length).toBeLessThan(told);
    quick.close();
  });
});

describe("starting and stopping", () => {
  it("can be found only while it runs", async () => {
    await using home = await createGatewayHome({ started: false });
    expect(await findGateway(home.home)).toBeUndefined();
    await expect(connectToGateway({ home: home.home })).rejects.toMatchObject({ code: "gateway-not-running" });
    const gateway = await home.start();
    expect(await findGateway(home.home)).toMatchObject({
      url: gateway.url,
      version: "1.2.3",
      process: currentProcess(),
    });
    expect((await createHttpCaller(await requireGateway(home.home)).call("health", {})).ok).toBe(true);
    await gateway.close();
    expect(await findGateway(home.home)).toBeUndefined();
  });

  it("ignores a file of a killed gateway, or a forged one", async () => {
    await using home = await createGatewayHome({ started: false });
    const { runtimeFile } = gatewayLayout(home.home);
    const alive = { url: "http://127.0.0.1:1", port: 1, version: "1", startedAt: 1, process: currentProcess() };
    await writeFile(runtimeFile, JSON.stringify(alive));
    expect(await findGateway(home.home)).toMatchObject({ port: 1 });
    // The same pid, used again by another process.
    await writeFile(runtimeFile, JSON.stringify({ ...alive, process: { ...alive.process, startedAt: "another" } }));
    expect(await findGateway(home.home)).toBeUndefined();
    for (const url of ["http://evil.example:1", "http://127.0.0.1:1@evil.example", "http://127.0.0.1.evil.example:1"]) {
      await writeFile(runtimeFile, JSON.stringify({ ...alive, url }));
      expect([url, await findGateway(home.home)]).toEqual([url, undefined]);
    }
    await writeFile(runtimeFile, "{");
    expect(await findGateway(home.home)).toBeUndefined();
    const gateway = await home.start();
    expect((await findGateway(home.home))?.url).toBe(gateway.url);
  });

  it("says who has the port", async () => {
    await using home = await createGatewayHome();
    await expect(home.start({ port: home.gateway.port })).rejects.toMatchObject({
      kind: "conflict",
      code: "gateway-running",
      message: expect.stringContaining(home.gateway.url) as string,
    });
    const { server, port } = await listenSomewhere();
    await expect(home.start({ port })).rejects.toMatchObject({
      code: "port-in-use",
      hint: expect.stringContaining("--port") as string,
    });
    server.close();
  });

  it("stops listening when it cannot announce itself", async () => {
    await using home = await createGatewayHome({ started: false });
    const port = await freePort();
    const obstacle = `${gatewayLayout(home.home).runtimeFile}.lock`;
    await mkdir(obstacle);
    await expect(home.start({ port })).rejects.toMatchObject({ message: expect.stringContaining(obstacle) as string });
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
    expect(await readdir(home.home)).not.toContain("gateway.json");
    await rmdir(obstacle);
    expect((await home.start({ port })).port).toBe(port);
  });

  it("listens on the loopback interface only", async () => {
    await using home = await createGatewayHome();
    const { networkInterfaces } = await import("node:os");
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((item) => item !== undefined && !item.internal && item.family === "IPv4");
    for (const { address } of others as { address: string }[]) {
      const refused = await new Promise<boolean>((resolve) => {
        const socket = connectTcp({ host: address, port: home.gateway.port, timeout: 1000 });
        socket.on("connect", () => resolve(false));
        socket.on("error", () => resolve(true));
        socket.on("timeout", () => resolve(true));
      });
      expect([address, refused]).toEqual([address, true]);
    }
    expect(home.gateway.url).toBe(`http://127.0.0.1:${home.gateway.port}`);
  });

  it("notifies clients, answers running calls and refuses new ones", async () => {
    await using home = await createGatewayHome();
    const client = await connectToGateway({ home: home.home });
    const events: RpcEvent[] = [];
    client.onEvent((event) => void events.push(event));
    home.pipeline.hold();
    const running = client.call("agent", { message: "slow" });
    await until(() => home.pipeline.status().running.length === 1);

    const closing = home.gateway.close({ until: home.pipeline.drain() });
    await until(() => events.some(({ type }) => type === "gateway.closing"));
    await expect(client.call("health", {})).rejects.toMatchObject({ code: "gateway-stopping", kind: "unavailable" });
    await expect(connectRpc({ ...home.gateway, client: { name: "late" } })).rejects.toMatchObject({
      code: "gateway-unreachable",
    });
    home.pipeline.release();
    expect((await running).status).toBe("ok");
    await closing;
    expect(await client.closed).toMatchObject({ code: CLOSE_CODES.goingAway });
  });

  it("closes although a client hangs", async () => {
    await using home = await createGatewayHome();
    const hanging = new WebSocket(`${home.gateway.url.replace("http", "ws")}/ws`);
    hanging.on("error", () => undefined);
    await new Promise((resolve) => hanging.on("open", resolve));
    hanging.pause();
    const half = connectTcp({ host: "127.0.0.1", port: home.gateway.port });
    half.on("error", () => undefined);
    half.write("GET / HTTP/1.1\r\n");
    await new Promise((resolve) => half.on("connect", resolve));
    await home.gateway.close();
    await expect(fetch(home.gateway.url)).rejects.toThrow("fetch failed");
    hanging.terminate();
    half.destroy();
  });
});

async function listenSomewhere(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}

async function freePort(): Promise<number> {
  const { server, port } = await listenSomewhere();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
