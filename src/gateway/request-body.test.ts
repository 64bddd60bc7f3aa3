/** Bodies that come in chunks and announce no length, through real sockets. */
import { type IncomingMessage, request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createTelegramHome } from "../../test/support/fake-telegram/telegram-home.ts";
import { message } from "../../test/support/fake-telegram/updates.ts";
import { type GatewayHome, WEBHOOK_SECRET, createGatewayHome } from "../../test/support/gateway-home.ts";
import { openTcp, raw } from "../../test/support/gateway-requests.ts";

const CHUNK = "x".repeat(16_384);

describe("a chunked body", () => {
  it("is read like one with a length, in whatever pieces it comes", async () => {
    await using home = await createGatewayHome();
    const text = JSON.stringify({ message: "grüße 🌍", sessionKey: "chunked" });
    const bytes = Buffer.from(text);
    for (const size of [bytes.length, 7, 1]) {
      const pieces = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
      const answer = await sendChunked(home, "/rpc/agent", pieces);
      expect([size, answer.status, answer.json]).toMatchObject([size, 200, { payload: { status: "ok" } }]);
      expect(JSON.stringify(answer.json)).toContain("echo: grüße 🌍");
    }
    // No chunk at all is an empty body.
    expect((await sendChunked(home, "/rpc/health", [])).status).toBe(200);
  });

  it("is read byte by byte from a raw socket, and the connection serves the next request", async () => {
    await using home = await createGatewayHome();
    const { port, token } = home.gateway;
    const head = `POST /rpc/agents.list HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n`;
    const chunked = `${head}\r\n1;ext=1\r\n{\r\n1\r\n}\r\n0\r\nX-Trailer: 1\r\n\r\n`;
    const answer = await raw(port, `${chunked}${chunked}`);
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(await raw(port, `${head}\r\nzz\r\n{}\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/);
  });

  it("reaches Telegram's webhook", async () => {
    await using telegram = await createTelegramHome();
    const webhook = { url: "https://agent.example.org/webhooks/telegram/default", secretToken: "correct-horse" };
    const channel = telegram.open({ mode: "webhook", webhook });
    await channel.start(telegram.host);
    await using home = await createGatewayHome({ telegram: channel });
    const update = JSON.stringify({ update_id: 1, message: message({ text: "hello" }) });
    const secret = { "X-Telegram-Bot-Api-Secret-Token": webhook.secretToken };
    const pieces = [update.slice(0, 20), update.slice(20)];
    expect((await sendChunked(home, "/webhooks/telegram/default", pieces, secret)).status).toBe(200);
    expect(telegram.host.admitted.at(-1)?.ctx.RawBody).toBe("hello");
  });

  it("that is too large gets 413 with advice", async () => {
    await using home = await createGatewayHome({ limits: { maxBodyBytes: 20_000 } });
    const pieces = Array<string>(400).fill(CHUNK);
    for (const path of ["/rpc/agent", "/webhooks/telegram/default"]) {
      const answer = await sendChunked(home, path, pieces, { "X-Telegram-Bot-Api-Secret-Token": WEBHOOK_SECRET });
      expect([path, answer]).toMatchObject([
        path,
        { status: 413, json: { error: { code: "body-too-large", hint: expect.stringContaining("maxBodyBytes") } } },
      ]);
    }
    expect(home.webhooks).toEqual([]);
    // Exactly the limit is allowed.
    const fitting = JSON.stringify({ message: "x".repeat(20_000 - '{"message":""}'.length) });
    expect((await sendChunked(home, "/rpc/agent", [fitting])).status).toBe(200);
    expect(home.logged).toEqual([]);
  });

  it("that is too large gets 413 even if the client sends everything before it reads", async () => {
    await using home = await createGatewayHome({ limits: { maxBodyBytes: 20_000 } });
    const socket = await openTcp(home.gateway.port);
    socket.pause();
    socket.write(headOf(home));
    for (let count = 0; count < 400; count++) if (!socket.write(framed(CHUNK))) await drained(socket);
    socket.write("0\r\n\r\n");
    let answer = "";
    const answered = new Promise((resolve) => socket.on("data", (data) => resolve((answer += String(data)))));
    socket.resume();
    await answered;
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 413/);
  });

  it("without an end is answered at the limit, and its connection is closed", async () => {
    await using home = await createGatewayHome({ limits: { maxBodyBytes: 20_000 } });
    const answer = await dripForever(home, CHUNK, 5);
    expect(answer).toMatch(/^HTTP\/1\.1 413/);
    expect((await home.post("health")).status).toBe(200);
  });

  it("that arrives too slowly is aborted in time", async () => {
    await using home = await createGatewayHome({ limits: { requestTimeoutMs: 300 } });
    const answer = await dripForever(home, "x", 50);
    expect(answer).toMatch(/^HTTP\/1\.1 408/);
    expect((await home.post("health")).status).toBe(200);
    expect(home.logged).toEqual([]);
  });

  it("of a stranger is refused without being read", async () => {
    await using home = await createGatewayHome();
    const { port } = home.gateway;
    for (const path of ["/rpc/agent", "/webhooks/telegram/default"]) {
      const half = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`;
      expect(await raw(port, half)).toMatch(/^HTTP\/1\.1 401/);
    }
  });
});

interface Answer {
  status: number | undefined;
  json: unknown;
}

/** With the owner's token, each piece as a chunk of its own, until the answer comes. */
async function sendChunked(
  { gateway: { port, token } }: GatewayHome,
  path: string,
  pieces: readonly (string | Buffer)[],
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = httpRequest({
    host: "127.0.0.1",
    port,
    path,
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
  });
  let isAnswered = false;
  request.once("response", () => (isAnswered = true));
  request.flushHeaders();
  for (const piece of pieces) {
    if (isAnswered) break;
    if (!request.write(piece)) await Promise.race([drained(request), answered]);
  }
  request.end();
  const response = await answered;
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += String(part);
  return { status: response.statusCode, json: text === "" ? undefined : JSON.parse(text) };
}

async function drained(request: NodeJS.WritableStream): Promise<void> {
  await new Promise((resolve) => request.once("drain", resolve));
}

/** Sends chunks until the gateway closes the connection. Returns its answer. */
async function dripForever(home: GatewayHome, chunk: string, everyMs: number): Promise<string> {
  const socket = await openTcp(home.gateway.port);
  let answer = "";
  socket.on("data", (data) => (answer += String(data)));
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(headOf(home));
  const drip = setInterval(() => socket.writable && socket.write(framed(chunk)), everyMs);
  await Promise.race([closed, delay(8000)]);
  clearInterval(drip);
  const isClosed = socket.closed;
  socket.destroy();
  if (!isClosed) throw new Error("the connection is still open");
  return answer;
}

function headOf({ gateway: { port, token } }: GatewayHome): string {
  return `POST /rpc/agent HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
}

function framed(chunk: string): string {
  return `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
}
