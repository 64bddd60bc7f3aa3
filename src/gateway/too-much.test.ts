/** Every limit of the gateway, exceeded. */
import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createGatewayHome, WEBHOOK_SECRET } from "../../test/support/gateway-home.ts";
import { firstFrame, openTcp, raw, upgradeRequest } from "../../test/support/gateway-requests.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { until } from "../../test/support/time.ts";
import { connectRpc } from "../rpc/client.ts";
import { createRateLimit } from "./gateway-core.ts";
import { CLOSE_CODES } from "../rpc/protocol.ts";

describe("limits", () => {
  it("refuses a body that is too large, announced or not", async () => {
    await using home = await createGatewayHome({ limits: { maxBodyBytes: 2000 } });
    const { port, token } = home.gateway;
    const big = { message: "x".repeat(3000) };
    const response = await home.post("agent", big);
    expect([response.status, await response.json()]).toMatchObject([413, { error: { code: "body-too-large" } }]);
    const head = `POST /rpc/agent HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const chunk = `${(1000).toString(16)}\r\n${"x".repeat(1000)}\r\n`;
    expect(await raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 413/,
    );
    // A wrong Content-Length.
    expect(await raw(port, `${head}Content-Length: 5\r\nConnection: close\r\n\r\n${"x".repeat(3000)}`)).toMatch(
      /^HTTP\/1\.1 4/,
    );
    expect((await home.post("health")).status).toBe(200);
    const webhook = await fetch(`${home.gateway.url}/webhooks/telegram/default`, {
      method: "POST",
      body: "x".repeat(3000),
    });
    expect(webhook.status).toBe(413);
    const secret = `X-Telegram-Bot-Api-Secret-Token: ${WEBHOOK_SECRET}\r\n`;
    const tunnelled = `POST /webhooks/telegram/default HTTP/1.1\r\nHost: bot.example\r\n${secret}Transfer-Encoding: chunked\r\n\r\n`;
    expect(await raw(port, `${tunnelled}${chunk.repeat(5)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413/);
    expect(home.webhooks).toEqual([]);
  });

  it("does not let a large body be split into two requests", async () => {
    await using home = await createGatewayHome();
    const { port, token } = home.gateway;
    const head = `POST /rpc/health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const hidden = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
    for (const lengths of [
      "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 2\r\nContent-Length: 60\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
      "Content-Length: +2\r\n",
      "X: a\r\n Content-Length: 2\r\n",
    ]) {
      const answer = await raw(port, `${head}${lengths}\r\n0\r\n\r\n${hidden}`);
      expect([lengths, answer]).toEqual([lengths, expect.stringMatching(/^HTTP\/1\.1 400/)]);
      expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    }
  });

  it("neither reads webhook requests without the secret nor counts them against Telegram", async () => {
    await using home = await createGatewayHome({ limits: { requestsPerMinute: 3 } });
    const post = async (secret: string): Promise<number> => {
      const headers = { "X-Telegram-Bot-Api-Secret-Token": secret };
      const options = { method: "POST", headers, body: '{"update_id":1}' };
      return (await fetch(`${home.gateway.url}/webhooks/telegram/default`, options)).status;
    };
    for (let attempt = 0; attempt < 8; attempt++) expect(await post("wrong")).toBe(401);
    const own = [];
    for (let attempt = 0; attempt < 4; attempt++) own.push(await post(WEBHOOK_SECRET));
    expect(own).toEqual([200, 200, 200, 429]);
    // The answer arrives before the body is sent.
    const half = `POST /webhooks/telegram/default HTTP/1.1\r\nHost: bot.example\r\nContent-Length: 1000\r\n\r\n{`;
    expect(await raw(home.gateway.port, half)).toMatch(/^HTTP\/1\.1 401/);
  });

  it("closes the connection with 1009 after an oversized frame", async () => {
    await using home = await createGatewayHome({ limits: { maxBodyBytes: 2000 } });
    const { code } = await firstFrame(home, { method: "connect", params: { filler: "x".repeat(3000) } });
    expect(code).toBe(1009);
  });

  it("closes a connection that sends too much before the token, complete or not", async () => {
    await using home = await createGatewayHome();
    expect((await firstFrame(home, { method: "connect", params: { filler: "x".repeat(300_000) } })).code).toBe(1006);
    const { token } = home.gateway;
    const client = await connectRpc({ ...home.gateway, client: { name: "x".repeat(50_000) } });
    const message = "x".repeat(900_000);
    expect((await client.call("agent", { message })).status).toBe("ok");
    client.close();
    const params = { minProtocol: 1, maxProtocol: 1, client: { name: "x".repeat(300_000) }, token };
    expect((await firstFrame(home, { method: "connect", params })).code).toBe(1006);
  });

  it("refuses too many requests with the time to wait; strangers do not use up the owner's quota", async () => {
    await using home = await createGatewayHome({ limits: { requestsPerMinute: 5 } });
    const strangers: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) strangers.push((await fetch(`${home.gateway.url}/health`)).status);
    expect(strangers).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const own: Response[] = [];
    for (let attempt = 0; attempt < 6; attempt++) own.push(await home.post("agents.list"));
    expect(own.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(Number(own.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("does not reset the request limit on a new connection", async () => {
    await using home = await createGatewayHome({ limits: { requestsPerMinute: 6 } });
    const outcomes: string[] = [];
    for (let connection = 0; connection < 3; connection++) {
      const client = await connectRpc({ ...home.gateway, client: { name: "test" } });
      for (let call = 0; call < 3; call++) {
        const outcome = client.call("agents.list", {}).then(
          () => "ok",
          (error: unknown) => (error as { code: string }).code,
        );
        outcomes.push(await outcome);
      }
      client.close();
    }
    expect(outcomes).toEqual([...Array<string>(6).fill("ok"), ...Array<string>(3).fill("rate-limited")]);
  });

  it("refuses too many calls on one WebSocket and keeps the connection open", async () => {
    await using home = await createGatewayHome({ limits: { maxCalls: 2 } });
    home.pipeline.hold();
    const client = await connectRpc({ ...home.gateway, client: { name: "test" } });
    const waiting = ["a", "b"].map(async (name) => await client.call("agent", { message: "x", sessionKey: name }));
    await until(() => home.pipeline.status().running.length === 2);
    await expect(client.call("health", {})).rejects.toMatchObject({ code: "too-many-calls", kind: "unavailable" });
    home.pipeline.release();
    await Promise.all(waiting);
    expect((await client.call("health", {})).ok).toBe(true);
    client.close();
  });

  it("ends half a request and a silent WebSocket after a time limit", async () => {
    await using home = await createGatewayHome({ limits: { requestTimeoutMs: 300, connectTimeoutMs: 100 } });
    const { port, token } = home.gateway;
    const slowHead = await openTcp(port);
    slowHead.write("POST /rpc/health HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    const slowBody = await openTcp(port);
    slowBody.write(
      `POST /rpc/health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    const drip = setInterval(() => {
      for (const socket of [slowHead, slowBody]) if (socket.writable) socket.write("x");
    }, 50);
    const silent = new WebSocket(`ws://127.0.0.1:${port}/ws`);
    const silentCode = new Promise((resolve) => silent.on("close", resolve));
    await Promise.all(
      [slowHead, slowBody].map(async (socket) => await new Promise((resolve) => socket.on("close", resolve))),
    );
    clearInterval(drip);
    expect(await silentCode).toBe(CLOSE_CODES.notConnected);
  });

  it("disconnects clients that do not read their answer in time", async () => {
    await using page = await temporaryFolder();
    await writeFile(page.join("large.txt"), "x".repeat(8_000_000));
    await using home = await createGatewayHome({ webRoot: page.path, limits: { requestTimeoutMs: 300 } });
    const { port } = home.gateway;
    const reader = await openTcp(port);
    reader.pause();
    reader.write(`GET /large.txt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(3));
    let isOver = false;
    for (const end of ["close", "error"]) reader.on(end, () => (isOver = true));
    // A client that does not read notices the end when it writes.
    await until(() => {
      if (!isOver) reader.write("\r\n");
      return isOver;
    });
    expect((await fetch(`${home.gateway.url}/health`)).status).toBe(200);
  });

  it("bounds memory when a client sends pings and reads no answers", async () => {
    await using home = await createGatewayHome();
    const socket = await openTcp(home.gateway.port);
    socket.write(upgradeRequest(home.gateway.port, {}));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    // A masked ping of 100 bytes, many at once.
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 100, 0, 0, 0, 0]), Buffer.alloc(100)]);
    const pings = Buffer.concat(Array<Buffer>(1000).fill(ping));
    for (let round = 0; round < 2000 && !socket.destroyed; round++) {
      if (!socket.write(pings))
        await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), delay(500)]);
    }
    await until(() => socket.destroyed);
    expect((await home.post("health")).status).toBe(200);
  });

  it("closes the connection after a message in thousands of fragments", async () => {
    await using home = await createGatewayHome();
    const socket = await openTcp(home.gateway.port);
    socket.write(upgradeRequest(home.gateway.port, {}));
    await new Promise((resolve) => socket.once("data", resolve));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    const [first, next] = [0x01, 0x00].map((opcode) => Buffer.from([opcode, 0x81, 0, 0, 0, 0, 0x20]));
    socket.write(Buffer.concat([first ?? Buffer.alloc(0), ...Array<Buffer>(20_000).fill(next ?? Buffer.alloc(0))]));
    socket.resume();
    await closed;
    expect((await home.post("health")).status).toBe(200);
  });

  it("closes a WebSocket that does not answer pings", async () => {
    await using home = await createGatewayHome({ limits: { pingMs: 50 } });
    const client = new WebSocket(`ws://127.0.0.1:${home.gateway.port}/ws`, { autoPong: false });
    client.on("error", () => undefined);
    const closed = new Promise((resolve) => client.on("close", resolve));
    await new Promise((resolve) => client.on("open", resolve));
    expect(await closed).toBe(1006);
  });
});

describe("the rate limit", () => {
  it("refills with time and remembers a bounded number of clients", () => {
    let now = 0;
    const limit = createRateLimit(60, { maxClients: 2, now: () => now });
    for (let request = 0; request < 60; request++) expect(limit.take("a")).toBeUndefined();
    expect(limit.take("a")).toBe(1000);
    now = 1000;
    expect(limit.take("a")).toBeUndefined();
    expect(limit.take("a")).toBeGreaterThan(0);
    limit.take("b");
    limit.take("c");
    // Forgotten, so its bucket is full again.
    expect(limit.take("a")).toBeUndefined();
  });
});
