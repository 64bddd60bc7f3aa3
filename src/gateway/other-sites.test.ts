/** Requests from pages of other sites to a gateway on the same machine. */
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { raw, upgrade } from "../../test/support/gateway-requests.ts";

describe("other sites", () => {
  it("cannot reach it under a name of their own (DNS rebinding)", async () => {
    await using home = await createGatewayHome();
    const { port, token } = home.gateway;
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
      // The gateway does not listen there; another program must not pass for it.
      `[::1]:${port}`,
      `localhost.:${port}`,
      `127.0.0.1:${port}\r\nHost: evil.example`,
      `evil.example\r\nHost: 127.0.0.1:${port}`,
      "",
    ]) {
      expect([host, await ask(host)]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 4\d\d/)]);
      expect([host, await ask(host, "/")]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 4(?!04)\d\d/)]);
      expect([host, await upgrade(home, { host })]).toEqual([host, 403]);
    }
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
      expect([host, await ask(host)]).toEqual([host, expect.stringMatching(/^HTTP\/1\.1 200/)]);
    }
    const body = `POST /rpc/health HTTP/1.1\r\nHost: evil.example:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
    expect(await raw(port, body)).toMatch(/^HTTP\/1\.1 403/);
  });

  it("cannot call it from their pages, by fetch or WebSocket, even with the token", async () => {
    await using home = await createGatewayHome();
    const { port } = home.gateway;
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
      const response = await home.post("health", {}, { Origin: origin });
      expect([origin, response.status]).toEqual([origin, 403]);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect([origin, await upgrade(home, { origin })]).toEqual([origin, 403]);
    }
    expect((await home.post("health", {}, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await home.post("health", {}, { Origin: `http://127.0.0.1:${port}` })).status).toBe(200);
    expect(await upgrade(home, { origin: `http://127.0.0.1:${port}` })).toBe(101);
  });

  it("may link to the page, but neither embed it nor use up the owner's share", async () => {
    await using home = await createGatewayHome({ limits: { requestsPerMinute: 5 } });
    // Node's fetch does not allow these headers.
    const visit = async (mode: string, dest: string): Promise<string> =>
      await raw(
        home.gateway.port,
        `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${home.gateway.port}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: ${mode}\r\nSec-Fetch-Dest: ${dest}\r\nConnection: close\r\n\r\n`,
      );
    for (let attempt = 0; attempt < 8; attempt++) expect(await visit("no-cors", "image")).toMatch(/^HTTP\/1\.1 403/);
    expect(await visit("navigate", "iframe")).toMatch(/^HTTP\/1\.1 403/);
    expect(await visit("navigate", "document")).toMatch(/^HTTP\/1\.1 200/);
    expect((await fetch(`${home.gateway.url}/health`)).status).toBe(200);
  });

  it("get neither a preflight answer nor a simple request through", async () => {
    await using home = await createGatewayHome();
    const preflight = await fetch(`${home.gateway.url}/rpc/health`, {
      method: "OPTIONS",
      headers: { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" },
    });
    expect(preflight.status).toBe(403);
    expect([...preflight.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      expect((await home.post("health", {}, { "Content-Type": type })).status).toBe(415);
    }
    expect((await fetch(`${home.gateway.url}/rpc/health`)).status).toBe(401);
  });
});
