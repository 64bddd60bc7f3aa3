/** The token: its file, where it is needed, and attempts to bypass it. */
import { chmod, chown, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { firstFrame, raw, upgrade } from "../../test/support/gateway-requests.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createLogger, silentLogger } from "../base/log.ts";
import { gatewayLayout } from "../config/layout.ts";
import { createTokenCheck } from "./access.ts";
import { ensureToken, readToken } from "./gateway-files.ts";
import { CLOSE_CODES } from "../rpc/protocol.ts";

const WRONG = "A".repeat(43);

describe("the token file", () => {
  it("is created once, private, with 32 random bytes", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("home", "gateway.token");
    // Several processes may start at the same time; all get the same token.
    const tokens = await Promise.all(Array.from({ length: 8 }, async () => await ensureToken(path, silentLogger)));
    expect(new Set(tokens).size).toBe(1);
    expect(Buffer.from(String(tokens[0]), "base64url")).toHaveLength(32);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await using other = await temporaryFolder();
    expect(await ensureToken(other.join("gateway.token"), silentLogger)).not.toBe(tokens[0]);
  });

  it("is made private if others could read it, with a warning that hides the token", async () => {
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

  it("is not read from a link, a pipe, or a file of another user", async (context) => {
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

  it("is never replaced: an invalid one is an error", async () => {
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
    await using home = await createGatewayHome();
    const { url, token } = home.gateway;
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
    expect((await home.post("health")).status).toBe(200);
  });

  it("is checked before the method, so that strangers learn nothing", async () => {
    await using home = await createGatewayHome();
    const known = await home.post("health", {}, { Authorization: `Bearer ${WRONG}` });
    const unknown = await home.post("no.such.method", {}, { Authorization: `Bearer ${WRONG}` });
    expect([known.status, unknown.status]).toEqual([401, 401]);
    expect(await known.text()).toBe(await unknown.text());
  });

  it("cannot be avoided by another spelling of the address", async () => {
    await using home = await createGatewayHome();
    const { port } = home.gateway;
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

  it("is compared over its whole length", () => {
    const token = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG";
    const { matches } = createTokenCheck(token);
    expect(matches(token)).toBe(true);
    for (let place = 0; place < token.length; place++) {
      expect(matches(`${token.slice(0, place)}!${token.slice(place + 1)}`)).toBe(false);
    }
    for (const wrong of [undefined, "", `${token}\0`, `${token} `]) expect(matches(wrong)).toBe(false);
  });

  it("is not needed for health, which then has no details", async () => {
    await using home = await createGatewayHome();
    const response = await fetch(`${home.gateway.url}/health`);
    expect(await response.json()).toEqual({ ok: true });
  });

  it("is needed first on a WebSocket", async () => {
    await using home = await createGatewayHome();
    expect(await firstFrame(home, { method: "health", params: {} })).toMatchObject({
      code: CLOSE_CODES.notConnected,
      frames: [{ ok: false, error: { code: "connect-first" } }],
    });
    const connect = { minProtocol: 1, maxProtocol: 1, client: { name: "x" } };
    for (const token of [undefined, WRONG, "", home.gateway.token.slice(1)]) {
      const { code, frames } = await firstFrame(home, { method: "connect", params: { ...connect, token } });
      expect([token, code, frames.length]).toEqual([token, CLOSE_CODES.unauthorized, 1]);
      expect(JSON.stringify(frames)).not.toContain("sessions.list");
    }
    const path = `/ws?token=${home.gateway.token}`;
    expect(await upgrade(home, { path })).toBe(404);
  });

  it("cannot be guessed: wrong ones are limited, the right one still works", async () => {
    await using home = await createGatewayHome({ limits: { wrongTokensPerMinute: 3 } });
    const statuses: number[] = [];
    const waits: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const response = await home.post("health", {}, { Authorization: `Bearer ${WRONG}` });
      statuses.push(response.status);
      waits.push(Number(response.headers.get("retry-after")));
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(waits.map((wait) => wait > 0)).toEqual([false, false, false, true, true]);
    const params = { minProtocol: 1, maxProtocol: 1, client: { name: "x" }, token: WRONG };
    expect((await firstFrame(home, { method: "connect", params })).code).toBe(CLOSE_CODES.tooManyRequests);
    expect((await home.post("health")).status).toBe(200);
  });

  it("is in no log and no answer after failures", async () => {
    await using home = await createGatewayHome();
    const { url, token } = home.gateway;
    await fetch(`${url}/rpc/health?token=${token}`, { method: "POST" });
    await fetch(`${url}/${token}`);
    await home.post("health", `{"token":"${token}"`);
    await home.post(token);
    await home.post("sessions.list", { token, limit: token });
    await firstFrame(home, {
      method: "connect",
      params: { minProtocol: 9, maxProtocol: 9, client: { name: "x" }, token },
    });
    const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz";
    home.parts.agents.list = async () => {
      throw new Error(`defect: ${secret} ${token}`);
    };
    const failed = await (await home.post("agents.list")).text();
    expect(failed).toContain("reference");
    expect(failed).not.toMatch(/defect|sk-ant|[\w-]{43}/);
    const log = home.logged.join("");
    expect(log).toContain("a request failed");
    expect(log).not.toContain(secret);
    const withoutDefect = home.logged.filter((line) => !line.includes("defect")).join("");
    expect(withoutDefect).not.toContain(token);
  });
});

describe("the home", () => {
  it("keeps token and runtime file private", async () => {
    await using home = await createGatewayHome();
    const { tokenFile, runtimeFile } = gatewayLayout(home.home);
    for (const path of [tokenFile, runtimeFile]) expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(runtimeFile, "utf8")).not.toContain(home.gateway.token);
  });

  it("causes a clear error if it cannot be written", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("gateway.token"));
    await expect(ensureToken(folder.join("gateway.token"), silentLogger)).rejects.toMatchObject({
      code: expect.any(String) as string,
    });
  });
});
