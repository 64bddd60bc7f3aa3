/** Calls to a gateway of the tests, as clients make them. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { type RpcCaller, type RpcClient, connectRpc, createHttpCaller } from "../../src/rpc/client.ts";
import { METHODS } from "../../src/rpc/contract.ts";
import type { GatewayStage } from "./gateway-stage.ts";

export const KEY = "agent:main:telegram:dm:7";

/** Calls over HTTP, and checks every answer against the table. */
export function caller({ gateway }: GatewayStage): RpcCaller {
  const http = createHttpCaller(gateway);
  return {
    call: async (method, params) => {
      const result = await http.call(method, params);
      const { error } = METHODS[method].result.strict().safeParse(result);
      expect(error, `the answer of ${method}`).toBeUndefined();
      return result;
    },
  };
}

export async function connect({ gateway }: GatewayStage, permission?: "read" | "write"): Promise<RpcClient> {
  const { url, token } = gateway;
  return await connectRpc({
    url,
    token,
    client: { name: "test" },
    permission,
  });
}

export async function say(stage: GatewayStage, text: string, sessionKey = KEY): Promise<void> {
  const { status } = await caller(stage).call("agent", { message: text, sessionKey });
  expect(status).toBe("ok");
}

export function sample(name: string): Record<string, unknown> {
  const file = new URL(`../fixtures/openclaw/rpc/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
}
