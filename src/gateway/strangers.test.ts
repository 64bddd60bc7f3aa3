/** Floods of connections without the token, and the owner beside them. */
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type GatewayHome, createGatewayHome } from "../../test/support/gateway-home.ts";
import { firstFrame, openTcp, upgradeRequest } from "../../test/support/gateway-requests.ts";
import { until } from "../../test/support/time.ts";
import { type RpcClient, connectRpc } from "../rpc/client.ts";
import { makeClientMark } from "../rpc/protocol.ts";

describe("many WebSockets without the token", () => {
  it("that come and go do not lock out the owner", async () => {
    await using home = await createGatewayHome({ limits: { requestsPerMinute: 60 } });
    for (let round = 0; round < 10; round++) {
      const sockets = await Promise.all(Array.from({ length: 20 }, async () => await openStranger(home)));
      for (const socket of sockets) socket.destroy();
    }
    const client = await connectOwner(home);
    expect((await client.call("health", {})).ok).toBe(true);
    client.close();
    expect((await home.post("health")).status).toBe(200);
  });

  it("that stay replace one another; the owner's connections stay, and new ones are accepted", async () => {
    await using home = await createGatewayHome();
    const client = await connectOwner(home);
    let isClosed = false;
    void client.closed.then(() => (isClosed = true));
    const strangers: Socket[] = [];
    for (let round = 0; round < 20; round++) {
      strangers.push(...(await Promise.all(Array.from({ length: 20 }, async () => await openStranger(home)))));
    }
    await until(() => strangers.filter(({ closed }) => !closed).length <= 128);
    expect((await client.call("health", {})).ok).toBe(true);
    for (let attempt = 0; attempt < 5; attempt++) {
      const another = await connectOwner(home);
      expect((await another.call("agents.list", {})).agents).toHaveLength(1);
      another.close();
      expect((await home.post("health")).status).toBe(200);
    }
    // A client without a mark can connect too.
    expect(await connectBare(home)).toBe(true);
    expect(isClosed).toBe(false);
    client.close();
    for (const socket of strangers) socket.destroy();
  });

  it("that keep connecting do not prevent the owner from connecting", async () => {
    await using home = await createGatewayHome({ limits: { maxStrangers: 8 } });
    const strangers: Socket[] = [];
    const over = new AbortController();
    const flood = (async () => {
      for (let round = 0; round < 200 && !over.signal.aborted; round++) {
        strangers.push(...(await Promise.all(Array.from({ length: 10 }, async () => await openStranger(home)))));
      }
    })();
    await until(() => strangers.length > 20);
    const first = await connectOwner(home);
    for (let attempt = 0; attempt < 10; attempt++) {
      const client = await connectOwner(home);
      expect((await client.call("health", {})).ok).toBe(true);
      client.close();
    }
    expect((await first.call("health", {})).ok).toBe(true);
    over.abort();
    await flood;
    first.close();
    for (const socket of strangers) socket.destroy();
  });

  it("that send nothing are closed soon", async () => {
    await using home = await createGatewayHome({ limits: { connectTimeoutMs: 100 } });
    const stranger = await openStranger(home);
    await expect.poll(() => stranger.closed || stranger.readableEnded).toBe(true);
    stranger.destroy();
  });
});

describe("a connection of plain HTTP", () => {
  it("without a request makes room for the next, and the owner's stays", async () => {
    await using home = await createGatewayHome({ limits: { maxStrangers: 2 } });
    const { port, token } = home.gateway;
    const owner = await openTcp(port);
    let heard = "";
    owner.on("data", (data) => (heard += String(data)));
    const call = `POST /rpc/agents.list HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    owner.write(call);
    await until(() => heard.includes('"ok":true'));
    const strangers: Socket[] = [];
    for (let count = 0; count < 5; count++) strangers.push(await openTcp(port));
    await until(() => strangers.filter(({ destroyed }) => destroyed).length === 3);
    expect(strangers.map(({ destroyed }) => destroyed)).toEqual([true, true, true, false, false]);
    heard = "";
    owner.write(call);
    await until(() => heard.includes('"ok":true'));
    for (const socket of [owner, ...strangers]) socket.destroy();
  });

  it("does not use up what the owner's browser needs, nor the owner's health checks", async () => {
    await using home = await createGatewayHome({ limits: { requestsPerMinute: 3 } });
    const { url, token } = home.gateway;
    const visit = async (path: string, headers = {}): Promise<number> => (await fetch(url + path, { headers })).status;
    for (let count = 0; count < 10; count++) await visit("/health");
    expect(await visit("/health")).toBe(429);
    expect(await visit("/health", { Authorization: `Bearer ${token}` })).toBe(200);
    for (let count = 0; count < 10; count++) expect(await visit("/")).toBe(404);
    const guesses = [];
    for (let count = 0; count < 12; count++) guesses.push(await visit("/health", { Authorization: "Bearer guess" }));
    expect([guesses[0], guesses.at(-1)]).toEqual([401, 429]);
  });
});

describe("a client's mark", () => {
  it("counts only when it is right, for this port, and new", async () => {
    await using home = await createGatewayHome({ limits: { maxStrangers: 2 } });
    const { port, token } = home.gateway;
    const right = { token, port, now: Date.now() };
    const marks = {
      right: await makeClientMark(right),
      old: await makeClientMark({ ...right, now: Date.now() - 120_000 }),
      ofAnotherPort: await makeClientMark({ ...right, port: port + 1 }),
      ofAnotherToken: await makeClientMark({ ...right, token: "x".repeat(43) }),
      none: "",
    };
    for (const [name, mark] of Object.entries(marks)) {
      const marked = await openStranger(home, `/ws?client=${mark}`);
      const others: Socket[] = [];
      for (let count = 0; count < 4; count++) others.push(await openStranger(home));
      await until(() => others[1]?.destroyed === true);
      expect([name, marked.destroyed]).toEqual([name, name !== "right"]);
      for (const socket of [marked, ...others]) socket.destroy();
    }
  });

  it("grants nothing: the token is still needed", async () => {
    await using home = await createGatewayHome();
    const { frames } = await firstFrame(home, { method: "health", params: {} });
    expect(frames).toMatchObject([{ ok: false, error: { code: "connect-first" } }]);
    const mark = await makeClientMark({ token: home.gateway.token, port: home.gateway.port, now: Date.now() });
    const answer = await fetch(`${home.gateway.url}/rpc/health?client=${mark}`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(401);
  });
});

async function connectOwner({ gateway: { url, token } }: GatewayHome): Promise<RpcClient> {
  return await connectRpc({ url, token, client: { name: "owner" } });
}

/** An open WebSocket without requests. */
async function openStranger({ gateway: { port } }: GatewayHome, path = "/ws"): Promise<Socket> {
  const socket = await openTcp(port);
  const isOpen = new Promise((resolve) => {
    socket.once("data", resolve).once("close", resolve);
  });
  socket.write(upgradeRequest(port, { path }));
  await isOpen;
  socket.resume();
  return socket;
}

/** Without a mark in the URL. */
async function connectBare({ gateway: { port, token } }: GatewayHome): Promise<boolean> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await new Promise((resolve) => socket.on("open", resolve));
  const answered = new Promise<string>((resolve) =>
    socket.on("message", (data) => resolve((data as Buffer).toString())),
  );
  const params = { minProtocol: 1, maxProtocol: 1, token, client: { name: "bare" } };
  socket.send(JSON.stringify({ type: "req", id: "1", method: "connect", params }));
  const isLetIn = (JSON.parse(await answered) as { ok: boolean }).ok;
  socket.terminate();
  return isLetIn;
}
