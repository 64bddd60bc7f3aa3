/** Hand-offs over a real gateway, and their privacy. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type GatewayHome, createGatewayHome } from "../../../test/support/gateway-home.ts";
import { caller } from "../../../test/support/gateway-requests.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { resolveClaudeHome } from "../../claude/native/layout.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { agentLayout } from "../../config/layout.ts";
import { resetSession } from "../../session/window.ts";
import { connectRpc } from "../client.ts";

const ANNA = "agent:main:telegram:dm:7";
const BERT = "agent:main:telegram:dm:8";

const ANNAS_WORDS = [
  "Please add idempotency keys to the webhook handler of the billing service.",
  "We decided to keep the keys in Postgres instead of Redis, because Redis is not backed up.",
  "I'm blocked: the integration tests fail on CI with connection refused to the database.",
];
const BERTS_WORDS = ["We decided to fire Carl in March and to tell nobody before.", "I'm blocked: the lawyer is away."];

function filesNaming(root: string, text: string): string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.jsonl?$/.test(name))
    .filter((name) => readFileSync(join(root, name), "utf8").includes(text));
}

async function say(home: GatewayHome, words: readonly string[], sessionKey: string): Promise<void> {
  const { agent } = await home.parts.agents.open(sessionKey.split(":")[1] ?? "main");
  for (const message of words) {
    expect((await caller(home).call("agent", { message, sessionKey })).status).toBe("ok");
  }
  await agent.store.update(sessionKey, (entry) =>
    entry === undefined ? undefined : { ...entry, project: "billing", updatedAt: Date.now() },
  );
}

describe("handoff", () => {
  it("is deleted with its session, including its files", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    for (const [words, key] of [
      [ANNAS_WORDS, ANNA],
      [BERTS_WORDS, BERT],
    ] as const) {
      await say(home, words, key);
      expect(await call("handoff.capture", { sessionKey: key })).toMatchObject({ captured: true });
    }
    const { handoff } = await home.parts.agents.open("main");
    await handoff?.settled();
    const files = (text: string): string[] => filesNaming(agentLayout(home.home, "main").handoff.root, text);
    expect(files(BERT).length).toBeGreaterThanOrEqual(4);
    expect(await call("sessions.delete", { key: BERT })).toMatchObject({ deleted: true });
    expect((await call("handoff.list", {})).handoffs.map(({ sessionKey }) => sessionKey)).toEqual([ANNA]);
    await handoff?.settled();
    expect(files(BERT)).toEqual([]);
    expect(files("Carl")).toEqual([]);
    expect(files(ANNA).length).toBeGreaterThanOrEqual(4);
  });

  it("is captured, shown, listed, resumed and cleared", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, ANNAS_WORDS, ANNA);
    expect(await call("handoff.status", { sessionKey: ANNA })).toEqual({
      enabled: true,
      sessionKey: ANNA,
      isOff: false,
    });
    const { captured, handoff } = await call("handoff.capture", { sessionKey: ANNA });
    expect(captured).toBe(true);
    expect(handoff).toMatchObject({
      agentId: "main",
      sessionKey: ANNA,
      project: "billing",
      status: "waiting",
      willBeOffered: true,
      isAsked: false,
      isNative: false,
      reason: "asked",
    });

    const { messages } = await call("chat.history", { sessionKey: ANNA });
    for (const { text, entryId, kind } of handoff?.items ?? []) {
      const source = messages.find((message) => message.entryId === entryId);
      expect(JSON.stringify(source), `${kind}: ${text}`).toContain(text.replace(/^Resolve: /, "").slice(0, 20));
    }
    expect(handoff?.items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["blocker", "decision"]));

    const status = await call("handoff.status", { sessionKey: ANNA, verify: true });
    expect(status.handoff).toEqual(handoff);
    expect(status.markdown).toMatch(/^# Hand-off: billing\n/);
    expect(await call("handoff.status", {})).toMatchObject({ sessionKey: ANNA });
    expect(await call("handoff.list", {})).toMatchObject({ count: 1, total: 1, handoffs: [{ sessionKey: ANNA }] });
    expect((await call("handoff.list", { project: "another" })).handoffs).toEqual([]);

    await resetSession(home.agent, ANNA, {});
    const resumed = await call("handoff.resume", { sessionKey: ANNA });
    expect(resumed).toMatchObject({ outcome: "ready", handoff: { isAsked: true, willBeOffered: true } });
    expect(resumed.markdown).toContain("Postgres instead of Redis");

    expect(await call("handoff.clear", { sessionKey: ANNA })).toMatchObject({
      cleared: true,
      handoff: { sessionKey: ANNA, project: "billing" },
    });
    expect(await call("handoff.clear", { sessionKey: ANNA })).toEqual({ ok: true, sessionKey: ANNA, cleared: false });
    expect((await call("handoff.status", { sessionKey: ANNA })).handoff).toBeUndefined();
    expect((await call("handoff.list", {})).handoffs).toMatchObject([{ status: "cleared", items: [] }]);
    expect(await call("handoff.resume", { sessionKey: ANNA })).toEqual({
      ok: true,
      sessionKey: ANNA,
      outcome: "none",
    });
  });

  it("never shows the hand-off of another person or agent, for any forged key", async () => {
    await using home = await createGatewayHome({ agents: ["main", "ops"] });
    const { call } = caller(home);
    const opsKey = "agent:ops:telegram:dm:9";
    await say(home, ANNAS_WORDS, ANNA);
    await say(home, BERTS_WORDS, BERT);
    await say(home, ["We decided to rotate the keys of the vault on Friday."], opsKey);
    for (const sessionKey of [BERT, opsKey]) await call("handoff.capture", { sessionKey });
    const secrets = /Carl|lawyer|vault/;

    for (const sessionKey of [
      ANNA,
      `${ANNA}:../dm:8`,
      "agent:main:telegram:dm:%38",
      "agent:main:telegram:dm:7\u0000agent:main:telegram:dm:8",
      "agent:main:claude-code:telegram:dm:8",
      "agent:main:claude-code:",
      "__proto__",
      "*",
    ]) {
      const answer = await call("handoff.status", { sessionKey });
      expect(answer.handoff, sessionKey).toBeUndefined();
      for (const method of ["handoff.capture", "handoff.resume", "handoff.clear"] as const) {
        const answered = await call(method, { sessionKey }).catch((error: unknown) => String(error));
        expect(JSON.stringify(answered), `${method} ${sessionKey}`).not.toMatch(secrets);
      }
    }
    for (const method of ["handoff.status", "handoff.capture", "handoff.clear", "handoff.resume"] as const) {
      await expect(call(method, { sessionKey: opsKey, agentId: "main" }), method).rejects.toMatchObject({
        code: "foreign-key",
        kind: "forbidden",
      });
    }
    // Another agent's key finds nothing.
    const moved = await call("handoff.status", { sessionKey: "telegram:dm:8", agentId: "ops" });
    expect(moved.handoff).toBeUndefined();
    expect(JSON.stringify(await call("handoff.list", { agentId: "ops" }))).not.toMatch(/Carl|lawyer/);
    // The others are unchanged.
    expect((await call("handoff.status", { sessionKey: BERT })).handoff?.items.length).toBeGreaterThan(0);
    expect((await call("handoff.status", { sessionKey: opsKey })).handoff?.items.length).toBeGreaterThan(0);
  });

  it("holds a connection to its permission", async () => {
    await using home = await createGatewayHome();
    await say(home, ANNAS_WORDS, ANNA);
    const { url, token } = home.gateway;
    const reader = await connectRpc({ url, token, client: { name: "test" }, permission: "read" });
    expect((await reader.call("handoff.list", {})).count).toBe(0);
    for (const method of ["handoff.capture", "handoff.clear", "handoff.resume"] as const) {
      await expect(reader.call(method, { sessionKey: ANNA })).rejects.toMatchObject({ code: "permission-missing" });
    }
    reader.close();
  });

  it("reports that it is turned off, in general or for one session", async () => {
    await using off = await createGatewayHome({
      config: { handoff: { ...DEFAULT_CONFIG.handoff, enabled: false } },
    });
    expect(await caller(off).call("handoff.status", { sessionKey: ANNA })).toEqual({ enabled: false, isOff: false });
    await expect(caller(off).call("handoff.capture", { sessionKey: ANNA })).rejects.toMatchObject({
      code: "handoff-off",
    });

    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, ANNAS_WORDS, ANNA);
    await call("handoff.capture", { sessionKey: ANNA });
    await home.agent.store.update(ANNA, (entry) => (entry === undefined ? undefined : { ...entry, handoff: "off" }));
    expect(await call("handoff.status", { sessionKey: ANNA })).toMatchObject({
      isOff: true,
      handoff: { willBeOffered: false },
    });
    expect((await call("handoff.capture", { sessionKey: ANNA })).captured).toBe(false);
  });

  it("captures a session of Claude Code after the fact, and none that is an agent's conversation", async () => {
    await using home = await createGatewayHome();
    await using work = await temporaryFolder();
    const { call } = caller(home);
    writeNative(work.path, OWN, "cli");
    writeNative(work.path, CHAT, "holdfast");
    const { sessionKey, handoff } = await call("handoff.capture", { nativeId: OWN.slice(0, 8) });
    expect(sessionKey).toBe(`agent:main:claude-code:${OWN}`);
    expect(handoff).toMatchObject({ isNative: true, sessionId: OWN, cwd: work.path, status: "waiting" });
    expect(await call("handoff.resume", { sessionKey })).toMatchObject({
      outcome: "ready",
      handoff: { isAsked: true },
    });
    await expect(call("handoff.capture", { nativeId: CHAT })).rejects.toMatchObject({ code: "session-of-an-agent" });
    await expect(call("handoff.capture", { nativeId: "deadbeef" })).rejects.toMatchObject({ kind: "not-found" });
    await expect(call("handoff.capture", {})).rejects.toMatchObject({ kind: "usage" });
    await expect(call("handoff.capture", { sessionKey, nativeId: OWN })).rejects.toMatchObject({ kind: "usage" });
  });
});

const OWN = "c0ffee00-1111-4222-8333-444455556666";
const CHAT = "dddddddd-1111-4222-8333-444455556666";

function writeNative(cwd: string, sessionId: string, entrypoint: string): void {
  const folder = join(resolveClaudeHome(process.env), "projects", cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const lines = ANNAS_WORDS.map((content, index) => ({
    type: "user",
    uuid: `0000000${index}-aaaa-4bbb-8ccc-dddddddddddd`,
    parentUuid: index === 0 ? null : `0000000${index - 1}-aaaa-4bbb-8ccc-dddddddddddd`,
    timestamp: new Date(Date.now() - 60_000 + index).toISOString(),
    sessionId,
    cwd,
    entrypoint,
    version: "2.1.197",
    gitBranch: "main",
    userType: "external",
    isSidechain: false,
    message: { role: "user", content },
  }));
  writeFileSync(join(folder, `${sessionId}.jsonl`), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}
