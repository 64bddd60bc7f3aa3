/** Invalid and hostile requests. */
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../test/support/gateway-home.ts";
import { firstFrame, rawFrame } from "../../test/support/gateway-requests.ts";
import { createHttpCaller } from "../rpc/client.ts";
import { parseBoundedJson } from "./request-body.ts";
import { CLOSE_CODES } from "../rpc/protocol.ts";

describe("hostile JSON", () => {
  it("that is nested too deep is refused", async () => {
    await using home = await createGatewayHome();
    expect((await home.post("health", "[".repeat(1_000_000))).status).toBe(400);
    const deep = 500_000;
    for (const bomb of [
      "[".repeat(deep) + "]".repeat(deep),
      `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
      "[".repeat(33) + "]".repeat(33),
    ]) {
      const response = await home.post("health", bomb);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: "json-too-deep" } }]);
    }
    expect(parseBoundedJson(`{"text":"${"[".repeat(100)}\\"{{{{${"{".repeat(100)}"}`)).toHaveProperty("text");
    expect(await rawFrame(home, "[".repeat(100_000))).toBe(CLOSE_CODES.badFrame);
  });

  it("cannot reach a prototype", async () => {
    await using home = await createGatewayHome();
    for (const body of [
      '{"__proto__":{"permission":"admin"}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"key":"main","label":{"__proto__":{"polluted":1}}}',
      '{"\\u005f_proto__":{"polluted":1}}',
    ]) {
      const response = await home.post("sessions.patch", body);
      expect([body, response.status]).toEqual([body, 400]);
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    const frame = '{"type":"req","id":"1","method":"health","params":{"__proto__":{"a":1}}}';
    expect(await rawFrame(home, frame)).toBe(CLOSE_CODES.badFrame);
  });

  it("that is not JSON or not a request is refused, and the gateway keeps running", async () => {
    await using home = await createGatewayHome();
    for (const body of ["{", "nonsense", "\u0000", "[1]", '"text"', "3", "null"]) {
      expect([body, (await home.post("sessions.patch", body)).status]).toEqual([body, 400]);
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
      expect([text, await rawFrame(home, text)]).toEqual([text, CLOSE_CODES.badFrame]);
    }
    expect(await rawFrame(home, Buffer.from([1, 2, 3]))).toBe(CLOSE_CODES.badFrame);
    expect((await createHttpCaller(home.gateway).call("health", {})).ok).toBe(true);
  });

  it("in the first request never grants more than intended", async () => {
    await using home = await createGatewayHome();
    const { token } = home.gateway;
    for (const permission of ["root", "ADMIN", 1, null, ["admin"]]) {
      const params = { minProtocol: 1, maxProtocol: 1, client: { name: "x" }, token, permission };
      const { frames } = await firstFrame(home, { method: "connect", params });
      expect(frames).toMatchObject([{ ok: false, error: { code: "invalid-params" } }]);
    }
  });
});
