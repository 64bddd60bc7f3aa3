/** OpenClaw's own clients, with the frames that OpenClaw 2026.1.30 sends and accepts. */
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type GatewayHome, type GatewayHomeOptions, createGatewayHome } from "../../test/support/gateway-home.ts";
import { caller } from "../../test/support/gateway-requests.ts";
import { until } from "../../test/support/time.ts";

const KEY = "agent:main:main";

interface Frame {
  type: string;
  id?: string;
  event?: string;
  seq?: number;
  ok?: boolean;
  payload?: Record<string, unknown>;
  error?: Record<string, unknown>;
}

interface ClientOptions {
  path?: string;
  token?: string;
  scopes?: string[] | undefined;
  role?: string;
  protocol?: number;
}

/** Behaves like OpenClaw's client: connects when the challenge arrives. */
async function openClient(home: GatewayHome, options: ClientOptions = {}) {
  const { path = "/", token = home.gateway.token, role = "operator", protocol = 3 } = options;
  const socket = new WebSocket(`${home.gateway.url.replace("http", "ws")}${path}`);
  const frames: Frame[] = [];
  let code: number | undefined;
  socket.on("message", (data) => frames.push(JSON.parse((data as Buffer).toString()) as Frame));
  socket.on("close", (given) => {
    code = given;
  });
  await until(() => frames.some(({ event }) => event === "connect.challenge"));
  let lastId = 0;
  const ask = async (method: string, params: unknown): Promise<Frame> => {
    const id = String(++lastId);
    socket.send(JSON.stringify({ type: "req", id, method, params }));
    await until(() => frames.some((frame) => frame.id === id));
    return frames.find((frame) => frame.id === id) as Frame;
  };
  const hello = await ask("connect", {
    minProtocol: protocol,
    maxProtocol: protocol,
    client: { id: "cli", version: "dev", platform: "linux", mode: "cli", instanceId: "1" },
    caps: [],
    auth: { token },
    role,
    scopes: "scopes" in options ? options.scopes : ["operator.admin", "operator.approvals", "operator.pairing"],
    device: { id: "d", publicKey: "k", signature: "s", signedAt: 1, nonce: "n" },
  });
  const events = (name: string) => frames.filter(({ event }) => event === name);
  return { hello, ask, frames, events, code: () => code, [Symbol.dispose]: () => socket.close() };
}

async function withClient(options: ClientOptions = {}, homeOptions: GatewayHomeOptions = {}) {
  const home = await createGatewayHome(homeOptions);
  const client = await openClient(home, options);
  return { home, client, [Symbol.asyncDispose]: async () => await home[Symbol.asyncDispose]() };
}

describe("an OpenClaw client", () => {
  it.each([
    ["/", 3],
    ["/ws", 4],
  ])("is challenged and greeted at %s, in version %i", async (path, protocol) => {
    await using opened = await withClient({ path, protocol });
    const [challenge] = opened.client.frames;
    expect(challenge).toEqual({
      type: "event",
      event: "connect.challenge",
      payload: { nonce: expect.any(String) as string, ts: expect.any(Number) as number },
    });
    expect(opened.client.hello).toMatchObject({
      ok: true,
      payload: {
        type: "hello-ok",
        protocol,
        auth: { role: "operator", scopes: ["operator.read", "operator.write", "operator.admin"] },
        server: { version: "1.2.3", connId: expect.any(String) as string },
        snapshot: { sessionDefaults: { defaultAgentId: "main", mainSessionKey: KEY } },
        policy: { tickIntervalMs: 30_000 },
      },
    });
    expect(opened.client.hello.payload?.["features"]).toMatchObject({
      methods: expect.arrayContaining(["sessions.list", "chat.send", "agent"]) as string[],
    });
  });

  it("answers what OpenClaw's command line and terminal ask for besides our methods", async () => {
    await using home = await createGatewayHome();
    using client = await openClient(home, { scopes: ["operator.read"] });
    const { ask } = client;
    const presence = await ask("system-presence", undefined);
    expect(presence.payload).toMatchObject([{ mode: "gateway", reason: "self" }]);
    expect((await ask("config.get", {})).payload).toEqual({ exists: false, valid: true, config: {}, issues: [] });
    expect((await ask("models.list", {})).payload).toEqual({ models: [] });
    expect(await ask("cron.list", {})).toMatchObject({ ok: false });
  });

  it("gets ticks, numbered with the other events", async () => {
    await using opened = await withClient({}, { limits: { tickMs: 20 } });
    const { client } = opened;
    await until(() => client.events("tick").length >= 2);
    expect(client.events("tick").map(({ seq }) => seq)).toEqual(client.events("tick").map((_, index) => index + 1));
    expect(client.events("tick")[0]?.payload).toEqual({ ts: expect.any(Number) as number });
  });

  it("sees a run in chat and agent events under its idempotency key", async () => {
    await using opened = await withClient();
    const { client } = opened;
    const params = { sessionKey: "main", message: "hello", deliver: false, timeoutMs: 30_000, idempotencyKey: "run-1" };
    expect(await client.ask("chat.send", params)).toMatchObject({ ok: true, payload: { runId: "run-1" } });
    await until(() => client.events("chat").some(({ payload }) => payload?.["state"] === "final"));
    expect(client.events("chat").map(({ payload }) => payload)).toMatchObject([
      { runId: "run-1", sessionKey: KEY, seq: 1, state: "delta", message: { content: [{ text: "echo: hello" }] } },
      { runId: "run-1", sessionKey: KEY, seq: 2, state: "final", message: { role: "assistant" } },
    ]);
    const agent = client.events("agent").map(({ payload }) => payload);
    expect(agent).toMatchObject([
      { runId: "run-1", seq: 1, stream: "lifecycle", data: { phase: "start" } },
      { runId: "run-1", seq: 2, stream: "assistant", data: { text: "echo: hello" } },
      { runId: "run-1", seq: 3, stream: "lifecycle", data: { phase: "end" } },
    ]);
    const numbers = client.frames.flatMap(({ seq }) => seq ?? []);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it("stops only the run that it names", async () => {
    await using opened = await withClient();
    const { home, client } = opened;
    home.pipeline.hold();
    await client.ask("chat.send", { sessionKey: KEY, message: "hello", idempotencyKey: "run-1" });
    await until(() => home.pipeline.status().running.length === 1);
    const other = await client.ask("chat.abort", { sessionKey: KEY, runId: "run-2" });
    expect(other.payload).toEqual({ ok: true, aborted: false });
    home.pipeline.release();
  });

  it("gets an event when the gateway stops", async () => {
    await using opened = await withClient();
    await opened.home.gateway.close();
    await until(() => opened.client.code() !== undefined);
    expect(opened.client.events("shutdown")).toMatchObject([{ payload: { reason: "the gateway is stopping" } }]);
    expect(opened.client.code()).toBe(1001);
  });
});

describe("authorization", () => {
  it("needs the token, and errors have OpenClaw's members only", async () => {
    await using opened = await withClient({ token: "wrong" });
    const { hello } = opened.client;
    expect(hello).toMatchObject({
      ok: false,
      error: { code: "INVALID_REQUEST", message: "Wrong token for this gateway" },
    });
    expect(Object.keys(hello.error ?? {}).toSorted()).toEqual(["code", "details", "message", "retryable"]);
    await until(() => opened.client.code() !== undefined);
    expect(opened.client.code()).toBe(4001);
  });

  it("grants what the scopes say", async () => {
    await using opened = await withClient({ scopes: ["operator.read"] });
    const { client } = opened;
    expect((await client.ask("sessions.list", {})).ok).toBe(true);
    const refused = await client.ask("chat.send", { sessionKey: KEY, message: "x", idempotencyKey: "1" });
    expect(refused).toMatchObject({ ok: false, error: { details: { code: "permission-missing" } } });
  });

  it.each([
    [{ scopes: ["operator.pairing"] }, "scopes must contain"],
    [{ role: "node" }, "Holdfast has no nodes"],
    [{ protocol: 5 }, "speaks protocol version 3 and 4, the client 5 to 5"],
  ])("refuses %o with a reason", async (options, reason) => {
    await using opened = await withClient(options);
    const { hello } = opened.client;
    expect(hello.ok).toBe(false);
    expect(hello.error?.["message"]).toContain(reason);
    expect(hello.error?.["code"]).toBe("INVALID_REQUEST");
  });

  it("limits requests like those of other clients", async () => {
    await using opened = await withClient({}, { limits: { requestsPerMinute: 2 } });
    const { client } = opened;
    await client.ask("agents.list", {});
    await client.ask("agents.list", {});
    expect(await client.ask("agents.list", {})).toMatchObject({
      error: { code: "UNAVAILABLE", retryable: true, retryAfterMs: expect.any(Number) as number },
    });
  });
});

describe("OpenClaw's parameters", () => {
  it("select sessions", async () => {
    await using opened = await withClient();
    const { home, client } = opened;
    await caller(home).call("agent", { message: "hi", sessionKey: KEY });
    await caller(home).call("agent", { message: "hi", sessionKey: "global" });
    const child = "agent:main:subagent:1";
    await caller(home).call("agent", { message: "hi", sessionKey: child });
    await home.agent.store.update(child, (entry) => entry && { ...entry, spawnedBy: KEY });
    const keys = async (params: unknown) => {
      const { payload = {} } = await client.ask("sessions.list", params);
      return (payload["sessions"] as { key: string }[]).map(({ key }) => key);
    };
    expect(await keys({ includeGlobal: false, includeUnknown: false })).toEqual([child, KEY]);
    expect(await keys({ includeGlobal: true, limit: 1 })).toEqual([child]);
    expect(await keys({ spawnedBy: "main" })).toEqual([child]);
    const resolve = async (spawnedBy: string) =>
      await client.ask("sessions.resolve", { key: child, spawnedBy, includeGlobal: true });
    expect(await resolve("main")).toMatchObject({ ok: true, payload: { key: child } });
    expect(await resolve("agent:main:other")).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(child) as string },
    });
  });

  it("change a session", async () => {
    await using opened = await withClient({}, { config: { models: { "fake/one": { alias: "uno" } } } });
    const { home, client } = opened;
    await caller(home).call("agent", { message: "hi", sessionKey: KEY });
    const patch = async (changes: unknown) =>
      (await client.ask("sessions.patch", { key: "main", ...(changes as object) })).payload?.["entry"];
    expect(await patch({ model: "uno", execHost: "node", execAsk: "always" })).toMatchObject({
      providerOverride: "fake",
      modelOverride: "one",
      execHost: "node",
      execAsk: "always",
    });
    expect(await patch({ model: null })).not.toHaveProperty("modelOverride");
    const refused = await client.ask("sessions.patch", { key: "main", spawnedBy: "agent:main:other" });
    expect(refused.error?.["message"]).toMatch(
      /sessions.patch spawnedBy is not supported: only the session that spawns/,
    );
  });

  it("delete a session with its transcripts, or are refused", async () => {
    await using opened = await withClient();
    const { home, client } = opened;
    const key = "agent:main:discord:channel:1";
    await caller(home).call("agent", { message: "hi", sessionKey: key });
    const kept = await client.ask("sessions.delete", { key, deleteTranscript: false });
    expect(kept).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("always move to the archive") as string },
    });
    expect(await client.ask("sessions.delete", { key, deleteTranscript: true })).toMatchObject({
      ok: true,
      payload: { deleted: true },
    });
  });

  it("of `openclaw agent` run a turn", async () => {
    await using opened = await withClient();
    const { client } = opened;
    const params = {
      message: "hi",
      agentId: "main",
      to: "+15550100",
      sessionKey: KEY,
      deliver: false,
      channel: "whatsapp",
    };
    const ran = await client.ask("agent", { ...params, timeout: 600, lane: "main", idempotencyKey: "a1" });
    expect(ran).toMatchObject({
      ok: true,
      payload: { runId: "a1", status: "ok", result: { payloads: [{ text: "echo: hi" }] } },
    });
    const refused = await client.ask("agent", { ...params, extraSystemPrompt: "be brief", idempotencyKey: "a2" });
    expect(refused.error?.["message"]).toContain("agent extraSystemPrompt is not supported");
    const files = await client.ask("chat.send", {
      sessionKey: KEY,
      message: "x",
      idempotencyKey: "a3",
      attachments: [{}],
    });
    expect(files.error?.["message"]).toContain("files reach an agent through its channels");
  });
});
