/** Requests to a test gateway: well-formed RPC calls, and raw bytes that no proper client would send. */
import { readFileSync } from "node:fs";
import { type Socket, connect as connectTcp } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { type RpcCaller, type RpcClient, connectRpc, createHttpCaller } from "../../src/rpc/client.ts";
import { METHODS } from "../../src/rpc/contract.ts";
import type { GatewayHome } from "./gateway-home.ts";

export const KEY = "agent:main:telegram:dm:7";

/** Calls over HTTP, and checks every answer against its schema. */
export function caller({ gateway }: GatewayHome): RpcCaller {
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

export async function connect({ gateway }: GatewayHome, permission?: "read" | "write"): Promise<RpcClient> {
  const { url, token } = gateway;
  return await connectRpc({
    url,
    token,
    client: { name: "test" },
    permission,
  });
}

export async function say(home: GatewayHome, text: string, sessionKey = KEY): Promise<void> {
  const { status } = await caller(home).call("agent", { message: text, sessionKey });
  expect(status).toBe("ok");
}

export function sample(name: string): Record<string, unknown> {
  const file = new URL(`../fixtures/openclaw/rpc/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
}

const PATIENCE_MS = 5000;
const SILENCE_MS = 500;

interface FirstFrame {
  code: number;
  frames: unknown[];
}

/** Opens a WebSocket, sends one request and waits for the close. */
export async function firstFrame(home: GatewayHome, request: { method: string; params: unknown }): Promise<FirstFrame> {
  const frames: unknown[] = [];
  const code = await rawFrame(home, JSON.stringify({ type: "req", id: "1", ...request }), frames);
  return { code, frames };
}

export async function rawFrame(
  { gateway }: GatewayHome,
  data: string | Buffer,
  frames: unknown[] = [],
): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/ws`);
  socket.on("message", (answer) => frames.push(JSON.parse((answer as Buffer).toString())));
  socket.on("error", () => undefined);
  const closed = new Promise<number>((resolve) => socket.on("close", resolve));
  await new Promise((resolve) => socket.on("open", resolve));
  socket.send(data);
  return await closed;
}

/** Tries to open a WebSocket and returns the HTTP status. */
export async function upgrade(
  { gateway: { port } }: GatewayHome,
  { host = `127.0.0.1:${port}`, origin, path = "/ws" }: { host?: string; origin?: string; path?: string },
): Promise<number> {
  const socket = await openTcp(port);
  socket.write(upgradeRequest(port, { host, path, ...(origin === undefined ? {} : { origin }) }));
  const head = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  socket.destroy();
  return Number(head.split(" ")[1]);
}

export function upgradeRequest(
  port: number,
  { host = `127.0.0.1:${port}`, origin, path = "/ws" }: { host?: string; origin?: string; path?: string },
): string {
  const origins = origin === undefined ? "" : `Origin: ${origin}\r\n`;
  return (
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${origins}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
  );
}

export async function openTcp(port: number): Promise<Socket> {
  const socket = connectTcp({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.on("connect", resolve));
  return socket;
}

/** The answer to these bytes, up to the end of the connection or a silence. */
export async function raw(port: number, request: string): Promise<string> {
  const socket = await openTcp(port);
  let answer = "";
  const answered = new Promise((resolve) => {
    socket.on("data", (data) => {
      answer += String(data);
      resolve(undefined);
    });
  });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(request);
  const silent = Promise.race([answered, delay(PATIENCE_MS, undefined, { ref: false })]).then(
    async () => await delay(SILENCE_MS),
  );
  await Promise.race([closed, silent]);
  socket.destroy();
  return answer;
}
