/** Each measure of the gateway, and somebody who tries to get around it. */
import { chmod, chown, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { type Socket, connect as connectTcp } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type GatewayStage, WEBHOOK_SECRET, gatewayStage, until } from "../../test/support/gateway-stage.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createLogger, silentLogger } from "../base/log.ts";
import { gatewayLayout } from "../config/layout.ts";
import { connectRpc, createHttpCaller } from "../rpc/client.ts";
import { CLOSE_CODES } from "../rpc/frames.ts";
import { createTokenCheck } from "./access.ts";
import { parseBoundedJson } from "./bounded-json.ts";
import { createRateLimit } from "./rate-limit.ts";
import { ensureToken, readToken } from "./token-file.ts";

const WRONG = "A".repeat(43);

describe("the token file", () => {
  it("is made once, private, with 32 random bytes", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("home", "gateway.token");
    // Several processes may start at once; all get the same.
    const tokens = await Promise.all(Array.from({ length: 8 }, async () => await ensureToken(path, silentLogger)));
    expect(new Set(tokens).size).toBe(1);
    expect(Buffer.from(String(tokens[0]), "base64url")).toHaveLength(32);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await using other = await temporaryFolder();
    expect(await ensureToken(other.join("gateway.token"), silentLogger)).not.toBe(tokens[0]);
  });

  it("is made private again when others could read it, and the owner is told without the token", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("gateway.token");
    const token = await ensureToken(path, silentLogger);
    await chmod(path, 0o644);
    const logged: string[] = [];
    const logger = createLogger({ write: (line) => void logged.push(line) });
    expect(await ensureToken(path, logger)).toBe(token);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(logged.join("")).toContain("others could read");
    expect(logged.join("")).not.toContain(token);
  });

  it("is not taken from a link, a pipe's place, or a file that somebody else has put there", async (context) => {
    await using folder = await temporaryFolder();
    const theirs = folder.join("theirs");
    await writeFile(theirs, WRONG, { mode: 0o600 });
    const path = folder.join("gateway.token");
    await symlink(theirs, path);
    for (const read of [async () => await ensureToken(path, silentLogger), async () => await readToken(path)]) {
      await expect(read()).rejects.toMatchObject({ code: "token-not-ours", kind: "forbidden" });
    }
    await symlink(folder.join("nothing"), folder.join("dangling"));
    await expect(ensureToken(folder.join("dangling"), silentLogger)).rejects.toMatchObject({ code: "token-not-ours" });
    // Only root can give a file away.
    if (process.getuid?.() !== 0) context.skip();
    await chown(theirs, 12_345, 12_345);
    await expect(ensureToken(theirs, silentLogger)).rejects.toMatchObject({ code: "token-not-ours" });
    expect(await readFile(theirs, "utf8")).toBe(WRONG);
  });

  it("is never replaced: what is no token is an error, not a reason for a new one", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("gateway.token");
    for (const content of ["", "short", "x".repeat(10_000), "with spaces in between ".repeat(3)]) {
      await writeFile(path, content);
      await expect(ensureToken(path, silentLogger)).rejects.toMatchObject({ code: "token-unreadable" });
      expect(await readFile(path, "utf8")).toBe(content);
    }
  });
});

describe("the token", () => {
  it("is needed for every method, in the right header, in full", async () => {
    await using stage = await gatewayStage();
    const { url, token } = stage.gateway;
    const attempts: [string, Record<string, string>, string?][] = [
      ["none", {}],
      ["wrong", { Authorization: `Bearer ${WRONG}` }],
      ["a part", { Authorization: `Bearer ${token.slice(0, -1)}` }],
      ["more", { Authorization: `Bearer ${token}A` }],
      ["another case", { Authorization: `Bearer ${token.toLowerCase()}x` }],
      ["no scheme", { Authorization: token }],
      ["another scheme", { Authorization: `Basic ${token}` }],
      ["empty", { Authorization: "Bearer " }],
      ["a cookie", { Cookie: `token=${token}` }],
      ["a query", {}, `?token=${token}`],
    ];
    for (const [name, headers, query = ""] of attempts) {
      const response = await fetch(`${url}/rpc/health${query}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: "{}",
      });
      expect([name, response.status]).toEqual([name, 401]);
      expect(await response.text()).not.toContain(token);
    }
    expect((await stage.post("health")).status).toBe(200);
  });

  it("is asked for before a method is looked up: a stranger learns nothing", async () => {
    await using stage = await gatewayStage();
    const known = await stage.post("health", {}, { Authorization: `Bearer ${WRONG}` });
    const unknown = await stage.post("no.such.method", {}, { Authorization: `Bearer ${WRONG}` });
    expect([known.status, unknown.status]).toEqual([401, 401]);
    expect(await known.text()).toBe(await unknown.text());
  });

  it("cannot be avoided by another spelling of the address", async () => {
    await using stage = await gatewayStage();
    const { port } = stage.gateway;
    for (const path of [
      "/rpc/health/",
      "//rpc/health",
      "/RPC/health",
      "/%72pc/health",
      "/rpc%2fhealth",
      "/webhooks/../rpc/health",
      "/webhooks/telegram/..%2f..%2frpc%2fhealth",
      "/x/../rpc/health",
      "/rpc/./health",
      `http://127.0.0.1:${port}/rpc/health`,
      "/rpc/health#",
      "/rpc/health;x",
    ]) {
      const request = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
      expect([path, await raw(port, request)]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 4\d\d/)]);
    }
  });

  it("is compared over its whole length: every place counts", () => {
    const token = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";
    const { matches } = createTokenCheck(token);
    expect(matches(token)).toBe(true);
    for (let place = 0; place < token.length; place++) {
      expect(matches(`${token.slice(0, place)}!${token.slice(place + 1)}`)).toBe(false);
    }
    for (const wrong of [undefined, "", `${token}\0`, `${token} `]) expect(matches(wrong)).toBe(false);
  });

  it("leaves health to everybody, but only that it is there", async () => {
    await using stage = await gatewayStage();
    const response = await fetch(`${stage.gateway.url}/health`);
    expect(await response.json()).toEqual({ ok: true });
  });

  it("is needed on a WebSocket before anything else", async () => {
    await using stage = await gatewayStage();
    expect(await firstFrame(stage, { method: "health", params: {} })).toMatchObject({
      code: CLOSE_CODES.notConnected,
      frames: [{ ok: false, error: { code: "connect-first" } }],
    });
    const connect = { minProtocol: 1, maxProtocol: 1, client: { name: "x" } };
    for (const token of [undefined, WRONG, "", stage.gateway.token.slice(1)]) {
      const { code, frames } = await firstFrame(stage, { method: "connect", params: { ...connect, token } });
      expect([token, code, frames.length]).toEqual([token, CLOSE_CODES.unauthorized, 1]);
      expect(JSON.stringify(frames)).not.toContain("sessions.list");
    }
    const path = `/ws?token=${stage.gateway.token}`;
    expect(await upgrade(stage, { path })).toBe(404);
  });

  it("cannot be guessed at: wrong ones are counted, the right one still passes", async () => {
    await using stage = await gatewayStage({ limits: { wrongTokensPerMinute: 3 } });
    const statuses: number[] = [];
    const waits: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const response = await stage.post("health", {}, { Authorization: `Bearer ${WRONG}` });
      statuses.push(response.status);
      waits.push(Number(response.headers.get("retry-after")));
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(waits.map((wait) => wait > 0)).toEqual([false, false, false, true, true]);
    const params = { minProtocol: 1, maxProtocol: 1, client: { name: "x" }, token: WRONG };
    expect((await firstFrame(stage, { method: "connect", params })).code).toBe(CLOSE_CODES.tooManyRequests);
    expect((await stage.post("health")).status).toBe(200);
  });

  it("is in no log and no answer, whatever goes wrong", async () => {
    await using stage = await gatewayStage();
    const { url, token } = stage.gateway;
    await fetch(`${url}/rpc/health?token=${token}`, { method: "POST" });
    await fetch(`${url}/${token}`);
    await stage.post("health", `{"token":"${token}"`);
    await stage.post(token);
    await stage.post("sessions.list", { token, limit: token });
    await firstFrame(stage, {
      method: "connect",
      params: { minProtocol: 9, maxProtocol: 9, client: { name: "x" }, token },
    });
    const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz";
    stage.parts.agents.list = async () => {
      throw new Error(`defect: ${secret} ${token}`);
    };
    const failed = await (await stage.post("agents.list")).text();
    expect(failed).toContain("reference");
    expect(failed).not.toMatch(/defect|sk-ant|[\w-]{43}/);
    const log = stage.logged.join("");
    expect(log).toContain("a request failed");
    expect(log).not.toContain(secret);
    const withoutDefect = stage.logged.filter((line) => !line.includes("defect")).join("");
    expect(withoutDefect).not.toContain(token);
  });
});

describe("other sites", () => {
  it("cannot reach it under a name of their own (DNS rebinding)", async () => {
    await using stage = await gatewayStage();
    const { port, token } = stage.gateway;
    const ask = async (host: string, path = "/health"): Promise<string> =>
      await raw(
        port,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
      );
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      `127.0.0.1:${port + 1}`,
      `127.0.0.1.evil.example:${port}`,
      `0.0.0.0:${port}`,
      `127.0.0.1:${port}@evil.example`,
      `[::ffff:127.0.0.1]:${port}`,
      // Nothing of ours listens there; whoever does must not pass for this gateway.
      `[::1]:${port}`,
      `localhost.:${port}`,
      `127.0.0.1:${port}\r\nHost: evil.example`,
      `evil.example\r\nHost: 127.0.0.1:${port}`,
      "",
    ]) {
      expect([host, await ask(host)]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 4\d\d/)]);
      expect([host, await ask(host, "/")]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 4(?!04)\d\d/)]);
      expect([host, await upgrade(stage, { host })]).toEqual([host, 403]);
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
      expect([host, await ask(host)]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 200/)]);
    }
    const body = `POST /rpc/health HTTP/1.1\r\nHost: evil.example:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
    expect(await raw(port, body)).toMatch(/^HTTP\/1\.1 403/);
  });

  it("cannot ask from their pages, by fetch or by WebSocket, even with the token", async () => {
    await using stage = await gatewayStage();
    const { port } = stage.gateway;
    for (const origin of [
      "https://evil.example",
      "null",
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port + 1}`,
      `http://127.0.0.1:${port}.evil.example`,
      `http://evil.example:${port}`,
      `http://[::1]:${port}`,
      `http://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}@evil.example`,
      "",
      "file://",
    ]) {
      const response = await stage.post("health", {}, { Origin: origin });
      expect([origin, response.status]).toEqual([origin, 403]);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect([origin, await upgrade(stage, { origin })]).toEqual([origin, 403]);
    }
    expect((await stage.post("health", {}, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await stage.post("health", {}, { Origin: `http://127.0.0.1:${port}` })).status).toBe(200);
    expect(await upgrade(stage, { origin: `http://127.0.0.1:${port}` })).toBe(101);
  });

  it("may link to the page, but neither embed it nor use up the owner's share", async () => {
    await using stage = await gatewayStage({ limits: { requestsPerMinute: 5 } });
    // Node's fetch has its own opinion about these headers.
    const visit = async (mode: string, dest: string): Promise<string> =>
      await raw(
        stage.gateway.port,
        `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${stage.gateway.port}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: ${mode}\r\nSec-Fetch-Dest: ${dest}\r\nConnection: close\r\n\r\n`,
      );
    for (let attempt = 0; attempt < 8; attempt++) expect(await visit("no-cors", "image")).toMatch(/^HTTP\/1\.1 403/);
    expect(await visit("navigate", "iframe")).toMatch(/^HTTP\/1\.1 403/);
    expect(await visit("navigate", "document")).toMatch(/^HTTP\/1\.1 200/);
    expect((await fetch(`${stage.gateway.url}/health`)).status).toBe(200);
  });

  it("get no answer to a preflight, and no simple request through", async () => {
    await using stage = await gatewayStage();
    const preflight = await fetch(`${stage.gateway.url}/rpc/health`, {
      method: "OPTIONS",
      headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" },
    });
    expect(preflight.status).toBe(403);
    expect([...preflight.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      expect((await stage.post("health", {}, { "Content-Type": type })).status).toBe(415);
    }
    expect((await fetch(`${stage.gateway.url}/rpc/health`)).status).toBe(401);
  });
});

describe("too much", () => {
  it("of a body is refused, announced or not", async () => {
    await using stage = await gatewayStage({ limits: { maxBodyBytes: 2000 } });
    const { port, token } = stage.gateway;
    const big = { message: "x".repeat(3000) };
    const response = await stage.post("agent", big);
    expect([response.status, await response.json()]).toMatchObject([413, { error: { code: "body-too-large" } }]);
    const head = `POST /rpc/agent HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const chunk = `${(1000).toString(16)}\r\n${"x".repeat(1000)}\r\n`;
    expect(await raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 413/,
    );
    // A length that lies about what follows.
    expect(await raw(port, `${head}Content-Length: 5\r\nConnection: close\r\n\r\n${"x".repeat(3000)}`)).toMatch(
      /^HTTP\/1\.1 4/,
    );
    expect((await stage.post("health")).status).toBe(200);
    const webhook = await fetch(`${stage.gateway.url}/webhooks/telegram/default`, {
      method: "POST",
      body: "x".repeat(3000),
    });
    expect(webhook.status).toBe(413);
    const secret = `X-Telegram-Bot-Api-Secret-Token: ${WEBHOOK_SECRET}\r\n`;
    const tunnelled = `POST /webhooks/telegram/default HTTP/1.1\r\nHost: bot.example\r\n${secret}Transfer-Encoding: chunked\r\n\r\n`;
    expect(await raw(port, `${tunnelled}${chunk.repeat(5)}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413/);
    expect(stage.webhooks).toEqual([]);
  });

  it("of a body cannot be made two requests of", async () => {
    await using stage = await gatewayStage();
    const { port, token } = stage.gateway;
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

  it("of webhook requests without the secret neither costs Telegram its share nor is read", async () => {
    await using stage = await gatewayStage({ limits: { requestsPerMinute: 3 } });
    const post = async (secret: string): Promise<number> => {
      const headers = { "X-Telegram-Bot-Api-Secret-Token": secret };
      const options = { method: "POST", headers, body: '{"update_id":1}' };
      return (await fetch(`${stage.gateway.url}/webhooks/telegram/default`, options)).status;
    };
    for (let attempt = 0; attempt < 8; attempt++) expect(await post("wrong")).toBe(401);
    const own = [];
    for (let attempt = 0; attempt < 4; attempt++) own.push(await post(WEBHOOK_SECRET));
    expect(own).toEqual([200, 200, 200, 429]);
    // The answer comes while the body is still announced only.
    const half = `POST /webhooks/telegram/default HTTP/1.1\r\nHost: bot.example\r\nContent-Length: 1000\r\n\r\n{`;
    expect(await raw(stage.gateway.port, half)).toMatch(/^HTTP\/1\.1 401/);
  });

  it("of a frame ends the connection with 1009", async () => {
    await using stage = await gatewayStage({ limits: { maxBodyBytes: 2000 } });
    const { code } = await firstFrame(stage, { method: "connect", params: { filler: "x".repeat(3000) } });
    expect(code).toBe(1009);
  });

  it("before the token was shown ends the connection, complete or not", async () => {
    await using stage = await gatewayStage();
    expect((await firstFrame(stage, { method: "connect", params: { filler: "x".repeat(300_000) } })).code).toBe(1006);
    const { token } = stage.gateway;
    const client = await connectRpc({ ...stage.gateway, client: { name: "x".repeat(50_000) } });
    const message = "x".repeat(900_000);
    expect((await client.call("agent", { message })).status).toBe("ok");
    client.close();
    const params = { minProtocol: 1, maxProtocol: 1, client: { name: "x".repeat(300_000) }, token };
    expect((await firstFrame(stage, { method: "connect", params })).code).toBe(1006);
  });

  it("of requests is refused with the time to wait; strangers do not use up the owner's", async () => {
    await using stage = await gatewayStage({ limits: { requestsPerMinute: 5 } });
    const strangers: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) strangers.push((await fetch(`${stage.gateway.url}/health`)).status);
    expect(strangers).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const own: Response[] = [];
    for (let attempt = 0; attempt < 6; attempt++) own.push(await stage.post("agents.list"));
    expect(own.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(Number(own.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("of requests is not allowed by connecting once more", async () => {
    await using stage = await gatewayStage({ limits: { requestsPerMinute: 6 } });
    const outcomes: string[] = [];
    for (let connection = 0; connection < 3; connection++) {
      const client = await connectRpc({ ...stage.gateway, client: { name: "test" } });
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

  it("of calls on one WebSocket is refused, and the connection lives on", async () => {
    await using stage = await gatewayStage({ limits: { maxCalls: 2 } });
    stage.pipeline.hold();
    const client = await connectRpc({ ...stage.gateway, client: { name: "test" } });
    const waiting = ["a", "b"].map(async (name) => await client.call("agent", { message: "x", sessionKey: name }));
    await until(() => stage.pipeline.status().running.length === 2);
    await expect(client.call("health", {})).rejects.toMatchObject({ code: "too-many-calls", kind: "unavailable" });
    stage.pipeline.release();
    await Promise.all(waiting);
    expect((await client.call("health", {})).ok).toBe(true);
    client.close();
  });

  it("of connections is refused, and room is made when one ends", async () => {
    await using stage = await gatewayStage({ limits: { maxConnections: 3 } });
    const sockets = await Promise.all(Array.from({ length: 3 }, async () => await openTcp(stage.gateway.port)));
    const refused = connectTcp({ host: "127.0.0.1", port: stage.gateway.port });
    refused.on("error", () => undefined);
    const wasRefused = await new Promise((resolve) => refused.on("close", () => resolve(true)));
    expect(wasRefused).toBe(true);
    for (const socket of sockets) socket.destroy();
    await until(async () => {
      const answer = await fetch(`${stage.gateway.url}/health`, { headers: { Connection: "close" } }).catch(
        () => undefined,
      );
      return answer?.status === 200;
    });
  });

  it("of time is not given: half a request and a silent WebSocket are ended", async () => {
    await using stage = await gatewayStage({ limits: { requestTimeoutMs: 300, connectTimeoutMs: 100 } });
    const { port, token } = stage.gateway;
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

  it("of time is not given to those who do not take their answer", async () => {
    await using page = await temporaryFolder();
    await writeFile(page.join("large.txt"), "x".repeat(8_000_000));
    await using stage = await gatewayStage({ webRoot: page.path, limits: { requestTimeoutMs: 300 } });
    const { port } = stage.gateway;
    const reader = await openTcp(port);
    reader.pause();
    reader.write(`GET /large.txt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(3));
    let isOver = false;
    for (const end of ["close", "error"]) reader.on(end, () => (isOver = true));
    // Whoever does not read learns of the end when they write.
    await until(() => {
      if (!isOver) reader.write("\r\n");
      return isOver;
    });
    expect((await fetch(`${stage.gateway.url}/health`)).status).toBe(200);
  });

  it("of pings: whoever reads no answer to them cannot fill the memory", async () => {
    await using stage = await gatewayStage();
    const socket = await openTcp(stage.gateway.port);
    socket.write(upgradeRequest(stage.gateway.port, {}));
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
    expect((await stage.post("health")).status).toBe(200);
  });

  it("of fragments: a message in thousands of pieces ends the connection", async () => {
    await using stage = await gatewayStage();
    const socket = await openTcp(stage.gateway.port);
    socket.write(upgradeRequest(stage.gateway.port, {}));
    await new Promise((resolve) => socket.once("data", resolve));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    const [first, next] = [0x01, 0x00].map((opcode) => Buffer.from([opcode, 0x81, 0, 0, 0, 0, 0x20]));
    socket.write(Buffer.concat([first ?? Buffer.alloc(0), ...Array<Buffer>(20_000).fill(next ?? Buffer.alloc(0))]));
    socket.resume();
    await closed;
    expect((await stage.post("health")).status).toBe(200);
  });

  it("of silence: a WebSocket that does not answer pings is let go", async () => {
    await using stage = await gatewayStage({ limits: { pingMs: 50 } });
    const client = new WebSocket(`ws://127.0.0.1:${stage.gateway.port}/ws`, { autoPong: false });
    client.on("error", () => undefined);
    const closed = new Promise((resolve) => client.on("close", resolve));
    await new Promise((resolve) => client.on("open", resolve));
    expect(await closed).toBe(1006);
  });
});

describe("hostile JSON", () => {
  it("that is nested too deep is refused before it is parsed", async () => {
    await using stage = await gatewayStage();
    for (const bomb of ["[".repeat(1_000_000), `${'{"a":'.repeat(100_000)}1`, "[".repeat(33) + "]".repeat(33)]) {
      const response = await stage.post("health", bomb);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: "json-too-deep" } }]);
    }
    expect(parseBoundedJson(`{"text":"${"[".repeat(100)}\\"{{{{${"{".repeat(100)}"}`)).toHaveProperty("text");
    expect(await rawFrame(stage, "[".repeat(100_000))).toBe(CLOSE_CODES.badFrame);
  });

  it("cannot reach a prototype", async () => {
    await using stage = await gatewayStage();
    for (const body of [
      '{"__proto__":{"permission":"admin"}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"key":"main","label":{"__proto__":{"polluted":1}}}',
      '{"\\u005f_proto__":{"polluted":1}}',
    ]) {
      const response = await stage.post("sessions.patch", body);
      expect([body, response.status]).toEqual([body, 400]);
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const frame = '{"type":"req","id":"1","method":"health","params":{"__proto__":{"a":1}}}';
    expect(await rawFrame(stage, frame)).toBe(CLOSE_CODES.badFrame);
  });

  it("that is no JSON or no request is refused, and the gateway lives on", async () => {
    await using stage = await gatewayStage();
    for (const body of ["{", "nonsense", "\u0000", "[1]", '"text"', "3", "null"]) {
      expect([body, (await stage.post("sessions.patch", body)).status]).toEqual([body, 400]);
    }
    for (const text of [
      "",
      "{}",
      "[]",
      "null",
      '{"type":"res"}',
      '{"type":"req","id":1,"method":"x"}',
      `{"type":"req","id":"${"x".repeat(300)}","method":"x"}`,
    ]) {
      expect([text, await rawFrame(stage, text)]).toEqual([text, CLOSE_CODES.badFrame]);
    }
    expect(await rawFrame(stage, Buffer.from([1, 2, 3]))).toBe(CLOSE_CODES.badFrame);
    expect((await createHttpCaller(stage.gateway).call("health", {})).ok).toBe(true);
  });

  it("in the first request never grants more than was meant", async () => {
    await using stage = await gatewayStage();
    const { token } = stage.gateway;
    for (const permission of ["root", "ADMIN", 1, null, ["admin"]]) {
      const params = { minProtocol: 1, maxProtocol: 1, client: { name: "x" }, token, permission };
      const { frames } = await firstFrame(stage, { method: "connect", params });
      expect(frames).toMatchObject([{ ok: false, error: { code: "invalid-params" } }]);
    }
  });
});

describe("the rate limit", () => {
  it("refills with time and remembers a bounded number of clients", () => {
    let now = 0;
    const limit = createRateLimit({ perMinute: 60, maxClients: 2, now: () => now });
    for (let request = 0; request < 60; request++) expect(limit.take("a")).toBeUndefined();
    expect(limit.take("a")).toBe(1000);
    now = 1000;
    expect(limit.take("a")).toBeUndefined();
    expect(limit.take("a")).toBeGreaterThan(0);
    limit.take("b");
    limit.take("c");
    // Forgotten, and so as good as new: memory is worth more than its bucket.
    expect(limit.take("a")).toBeUndefined();
  });
});

describe("the home", () => {
  it("keeps token and runtime file private", async () => {
    await using stage = await gatewayStage();
    const { tokenFile, runtimeFile } = gatewayLayout(stage.home);
    for (const path of [tokenFile, runtimeFile]) expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(runtimeFile, "utf8")).not.toContain(stage.gateway.token);
  });

  it("that cannot be written to is an error that says so", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("gateway.token"));
    await expect(ensureToken(folder.join("gateway.token"), silentLogger)).rejects.toMatchObject({
      code: expect.any(String) as string,
    });
  });
});

interface FirstFrame {
  code: number;
  frames: unknown[];
}

/** Opens a WebSocket, sends one request and waits for the end. */
async function firstFrame(stage: GatewayStage, request: { method: string; params: unknown }): Promise<FirstFrame> {
  const frames: unknown[] = [];
  const code = await rawFrame(stage, JSON.stringify({ type: "req", id: "1", ...request }), frames);
  return { code, frames };
}

async function rawFrame({ gateway }: GatewayStage, data: string | Buffer, frames: unknown[] = []): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/ws`);
  socket.on("message", (answer) => frames.push(JSON.parse((answer as Buffer).toString())));
  socket.on("error", () => undefined);
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await new Promise((resolve) => socket.on("open", resolve));
  socket.send(data);
  return await closed;
}

/** The status of an attempt to open a WebSocket. */
async function upgrade(
  { gateway: { port } }: GatewayStage,
  { host = `127.0.0.1:${port}`, origin, path = "/ws" }: { host?: string; origin?: string; path?: string },
): Promise<number> {
  const socket = await openTcp(port);
  socket.write(upgradeRequest(port, { host, path, ...(origin === undefined ? {} : { origin }) }));
  const head = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  socket.destroy();
  return Number(head.split(" ")[1]);
}

function upgradeRequest(
  port: number,
  { host = `127.0.0.1:${port}`, origin, path = "/ws" }: { host?: string; origin?: string; path?: string },
): string {
  const origins = origin === undefined ? "" : `Origin: ${origin}\r\n`;
  return (
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${origins}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
  );
}

async function openTcp(port: number): Promise<Socket> {
  const socket = connectTcp({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.on("connect", resolve));
  return socket;
}

/** What the gateway answers to these bytes, until it ends the connection or half a second is over. */
async function raw(port: number, request: string): Promise<string> {
  const socket = await openTcp(port);
  let answer = "";
  socket.on("data", (data) => {
    answer += String(data);
  });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(request);
  await Promise.race([closed, delay(500)]);
  socket.destroy();
  return answer;
}
