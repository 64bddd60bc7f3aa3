import { cp, rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { createHookHome } from "../../test/support/hook-home.ts";
import { bundledHooksFolder } from "../base/package.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import type { CaptureTarget } from "../handoff/handoff.ts";
import type { HookEventName } from "./hook.ts";
import { createSessionHandoffHook } from "./session-handoff.ts";

function recorder() {
  const captured: [CaptureTarget, string][] = [];
  const hook = createSessionHandoffHook({
    capture: async (target, reason) => {
      await Promise.resolve();
      captured.push([target, reason]);
      return undefined;
    },
  });
  return { captured, hook };
}

it("captures the event's window, with the reason", async () => {
  await using home = await createHookHome();
  const { captured, hook } = recorder();
  const runner = await home.open({ bundled: [hook], bundledFolder: bundledHooksFolder() });
  const fire = async (event: HookEventName, reason?: string) =>
    await runner.fire(event, {
      sessionKey: "agent:main:main",
      context: { sessionId: "s1", reason },
    });
  for (const event of ["command:new", "command:reset", "command:stop", "session:compact"] as const) await fire(event);
  for (const reason of ["daily", "idle", "command", "restore"]) await fire("session:end", reason);
  expect(captured.map(([, reason]) => reason)).toEqual([
    "new",
    "reset",
    "messages",
    "compaction",
    "daily",
    "idle",
    "reset",
    "ended",
  ]);
  expect(captured[0]?.[0]).toEqual({ kind: "session", sessionKey: "agent:main:main", sessionId: "s1" });
  expect(runner.listens("agent:bootstrap") || runner.listens("gateway:startup")).toBe(false);
});

it("does not run if disabled, deleted, or without hand-offs", async () => {
  await using home = await createHookHome();
  const { captured, hook } = recorder();
  const folder = home.folder.join("bundled");
  await cp(bundledHooksFolder(), folder, { recursive: true });
  const request = { sessionKey: "agent:main:main", context: {} };
  const off = await home.open({ bundled: [hook], hooks: { entries: { "session-handoff": { enabled: false } } } });
  const without = await home.open({
    bundled: [],
    config: { ...DEFAULT_CONFIG, handoff: { ...DEFAULT_CONFIG.handoff, enabled: false } },
  });
  expect(without.list()).toMatchObject([{ state: "missing", problem: "it needs setting handoff.enabled" }]);
  await rm(folder, { recursive: true });
  const deleted = await home.open({ bundled: [hook] });
  for (const runner of [off, without, deleted]) {
    expect(await runner.fire("command:new", request)).toEqual({ messages: [], bootstrapFiles: [], failures: [] });
  }
  expect(captured).toEqual([]);
});

it("may fail without harm", async () => {
  await using home = await createHookHome();
  const hook = createSessionHandoffHook({ capture: async () => await Promise.reject(new Error("the disk is full")) });
  const runner = await home.open({ bundled: [hook], bundledFolder: bundledHooksFolder() });
  const outcome = await runner.fire("command:new", { sessionKey: "agent:main:main", context: {} });
  expect(outcome.failures).toEqual([{ hook: "session-handoff", reason: "the disk is full" }]);
});
