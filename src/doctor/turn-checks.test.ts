/** Doctor's checks of gateways, channels and queued messages. */
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type DoctorHome, createDoctorHome, say } from "../../test/support/doctor-home.ts";
import { startChild } from "../../test/support/child.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { createTestClock } from "../../test/support/time.ts";
import { createPairingStore } from "../channels/access.ts";
import { channelsFolder, gatewayLayout } from "../config/layout.ts";
import { type DoctorOptions, type DoctorReport, runDoctor } from "./run-doctor.ts";
import { GIVEN_UP_NOTE } from "../store/queues.ts";
import { accountLeaseKey } from "../store/store-rules.ts";
import { createDocumentFiles } from "../store/document-files.ts";

const KEY = "agent:main:telegram:dm:7";
const HOUR = 3_600_000;

async function examine(home: DoctorHome, more: Partial<DoctorOptions> = {}): Promise<DoctorReport> {
  await chmod(home.home, 0o700);
  return await runDoctor({ home: home.home, fix: false, agents: [await home.scope()], ...more });
}

describe("the gateway's files", () => {
  it("removes the runtime file of a dead process and checks the token", async () => {
    await using home = await createDoctorHome("sqlite");
    await home.use(async (agent) => void (await say(agent, KEY, "hello")));
    const { runtimeFile, tokenFile } = gatewayLayout(home.home);
    await writeFile(runtimeFile, "{}", { mode: 0o600 });
    for (const state of ["running", "elsewhere"] as const) {
      expect(await examine(home, { fix: true, gateway: { state } })).toMatchObject({ findings: [] });
    }
    const gateway = { state: "ended", tokenProblem: "gateway.token holds no token" } as const;
    const { findings } = await examine(home, { fix: true, gateway });
    expect(findings).toMatchObject([
      { check: "gateway", severity: "error", path: tokenFile },
      { check: "gateway", severity: "warning", path: runtimeFile, fixed: true },
    ]);
    expect(await readdir(home.home)).not.toContain("gateway.json");
  });

  it("is private", async () => {
    await using home = await createDoctorHome("sqlite");
    await home.use(async (agent) => void (await say(agent, KEY, "hello")));
    const { tokenFile } = gatewayLayout(home.home);
    await writeFile(tokenFile, "x".repeat(43));
    await chmod(tokenFile, 0o644);
    expect((await examine(home, { fix: true })).findings).toMatchObject([
      { check: "permissions", message: expect.stringContaining("gateway.token (0644)"), fixed: true },
    ]);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
  });
});

describe("channels", () => {
  it("keep their files private and readable", async () => {
    await using home = await createDoctorHome("sqlite");
    await home.use(async (agent) => void (await say(agent, KEY, "hello")));
    const folder = channelsFolder(home.home);
    const store = {
      documents: createDocumentFiles(folder),
      channel: "telegram",
      accountId: "my.bot",
      clock: createTestClock(),
    };
    await createPairingStore(store).offer({ id: "1" });
    await mkdir(join(folder, "whatsapp/default/auth"), { recursive: true, mode: 0o700 });
    expect((await examine(home)).findings).toEqual([]);

    await chmod(join(folder, "whatsapp/default/auth"), 0o755);
    await writeFile(join(folder, "whatsapp/default/auth/creds.json"), "{}");
    await chmod(join(folder, "whatsapp/default/auth/creds.json"), 0o644);
    const pairing = join(folder, "telegram.my.bot.json");
    await writeFile(pairing, "{ torn");
    const { findings } = await examine(home, { fix: true });
    expect(findings.map(({ check, fixed }) => [check, fixed])).toEqual([
      ["permissions", true],
      ["permissions", true],
      ["channels", undefined],
    ]);
    expect(findings[2]).toMatchObject({ path: pairing, message: expect.stringContaining("people have to pair again") });
  });
});

const target = (channel: string) => ({ channel, accountId: "default", to: "7" });
const isConfigured = ({ channel }: { channel: string }) => channel === "telegram";

describe.each(STORE_KINDS)("queued messages in a %s store", (kind) => {
  it("are reported when no gateway handles them", async () => {
    await using home = await createDoctorHome(kind);
    await home.use(async (agent) => {
      await say(agent, KEY, "hello");
      for (const messageId of ["1", "2"]) {
        const address = { channel: "telegram", accountId: "default", chatId: "7", messageId };
        await agent.store.inbox.admit({ key: KEY, address, payload: {}, receivedAt: home.clock.now() });
      }
      const items = await agent.store.outbox.enqueue(KEY, [
        { idempotencyKey: "a", target: target("discord"), payload: {} },
        { idempotencyKey: "b", target: target("telegram"), payload: {} },
        { idempotencyKey: "c", target: target("telegram"), payload: {} },
      ]);
      await agent.store.outbox.failed(items[2]?.id ?? 0, "blocked by \u001b[31m the person");
    });
    expect((await examine(home)).findings).toMatchObject([{ check: "queues", severity: "info" }]);

    home.clock.advance(3 * HOUR);
    const { findings, ok } = await examine(home, { isConfigured });
    expect(ok).toBe(false);
    expect(findings.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      "warning: 2 messages wait for an answer, the oldest for 3 hours, and no gateway runs. Start it with `holdfast gateway`",
      "warning: 1 reply waits for discord (account default), which is not configured, the oldest for 3 hours",
      String.raw`info: 1 reply could not be delivered, the oldest 3 hours ago; the newest: blocked by \u001b[31m the person`,
    ]);
    const running = await examine(home, { isConfigured: () => true, gateway: { state: "running" } });
    expect(running).toMatchObject({ ok: true, findings: [{ severity: "info" }] });
  });

  it("are counted when given up", async () => {
    await using home = await createDoctorHome(kind);
    await home.use(async ({ store }) => {
      const address = { channel: "telegram", accountId: "default", chatId: "7", messageId: "1" };
      const { item } = await store.inbox.admit({ key: KEY, address, payload: {}, receivedAt: home.clock.now() });
      const attempt = await store.leases.acquire(KEY, { ttlMs: 1000 });
      if (!attempt.acquired) throw new Error("The lease is held");
      await store.inbox.claim(attempt.lease);
      await store.inbox.finish(attempt.lease, [item.id], [], { note: GIVEN_UP_NOTE, release: true });
    });
    home.clock.advance(2 * HOUR);
    expect(await examine(home)).toMatchObject({
      ok: false,
      findings: [
        {
          check: "queues",
          severity: "warning",
          key: KEY,
          message: `1 message was given up, the newest 2 hours ago; \`holdfast history ${KEY}\` shows why`,
        },
      ],
    });
  });

  it("lose the delivery lease of a dead process", async () => {
    await using home = await createDoctorHome(kind);
    await home.use(async (agent) => void (await say(agent, KEY, "hello")));
    const route = { channel: "telegram", accountId: "default" };
    const key = accountLeaseKey("delivery", "main", route);
    await startChild("store", { task: "die-with-lease", kind, home: home.home, leased: route }).ended();
    const { findings } = await examine(home, { fix: true });
    expect(findings).toMatchObject([{ check: "leases", key, fixed: true }]);
    expect(findings[0]?.message).toMatch(/^The lease for an account of process \d+/);
    expect(await examine(home)).toMatchObject({ ok: true });
  });
});
