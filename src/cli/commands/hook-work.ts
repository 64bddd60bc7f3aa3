/**
 * The background process of a Claude Code hook: captures hand-offs and records which session received one. It ends
 * within a bounded time, even if something hangs.
 */
import { rename, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PRIVATE_FILE, readFileIfPresent, readFolderIfPresent } from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { resolveClaudeHome } from "../../claude/native/layout.ts";
import { claudeLayout, resolveHome } from "../../config/layout.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import {
  type CaptureRequest,
  type ToldState,
  doneFile,
  parseRequest,
  requestFile,
} from "../../hooks/claude-code/capture-requests.ts";
import { loadSetup } from "../context.ts";
import { createHookLog } from "../../hooks/claude-code/hook-call.ts";

/** Counts from the moment when the request is due. A model gets its own time in addition. */
const HARD_LIMIT_MS = 30_000;
const MAX_WAIT_MS = 90_000;
const POLL_MS = 500;
const LOCK_MS = 10_000;
const MAX_ROUNDS = 5;
const KEEP_MS = 86_400_000;
/** Far longer than a hand-off is offered. */
const KEEP_OFFERS_MS = 60 * KEEP_MS;

export async function hookWork(sessionId: string): Promise<void> {
  const { hookLog, hookRequestsFolder: folder, offersFolder } = claudeLayout(resolveHome());
  const logger = createHookLog(hookLog);
  try {
    if (!/^[0-9a-f-]{36}$/.test(sessionId)) return;
    await untilDue(folder, sessionId);
    const { home, config } = await loadSetup();
    setTimeout(() => process.exit(0), HARD_LIMIT_MS + config.handoff.modelTimeoutSeconds * 1000).unref();
    const [{ openAgent }, { openHandoff }] = await Promise.all([
      import("../../compose/agent.ts"),
      import("../../compose/handoff.ts"),
    ]);
    const agent = await openAgent({ home, config });
    try {
      const handoff = await openHandoff({ home, config, env: process.env, agent });
      if (handoff !== undefined) await carryOutAll(folder, sessionId, handoff);
      // Not under the lock: the next turn is captured meanwhile.
      await handoff?.settled();
      await handoff?.close();
    } finally {
      await agent.store.close();
    }
    await sweep(folder, KEEP_MS);
    await sweep(offersFolder, KEEP_OFFERS_MS);
  } catch (error) {
    logger.warn("the hand-off of a session was not captured", { sessionId, error });
  }
}

async function carryOutAll(folder: string, sessionId: string, handoff: Handoff): Promise<void> {
  await withFileLock(`${requestFile(folder, sessionId)}.lock`, { timeoutMs: LOCK_MS }, async () => {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const request = await takeRequest(folder, sessionId);
      if (request === undefined) break;
      const { captures, told } = request;
      for (const { reason, ...target } of captures) await handoff.capture({ kind: "native", ...target }, reason);
      if (told !== undefined) await markTold(handoff, told);
      await writeFile(doneFile(folder, sessionId), "", { mode: PRIVATE_FILE });
    }
  });
}

/** Waits until the request is due or the session has ended; a session may end without calling the hook. */
async function untilDue(folder: string, sessionId: string): Promise<void> {
  const { runningIds } = await import("../../handoff/native-sessions.ts");
  const latest = Date.now() + MAX_WAIT_MS;
  while (Date.now() < latest) {
    const request = parseRequest((await readFileIfPresent(requestFile(folder, sessionId)))?.toString("utf8"));
    if ((request?.notBefore ?? 0) <= Date.now()) return;
    if (!(await runningIds(resolveClaudeHome())).has(sessionId)) return;
    await delay(POLL_MS);
  }
}

async function takeRequest(folder: string, sessionId: string): Promise<CaptureRequest | undefined> {
  const taken = `${requestFile(folder, sessionId)}.taken`;
  try {
    await rename(requestFile(folder, sessionId), taken);
  } catch {
    return undefined;
  }
  const request = parseRequest((await readFileIfPresent(taken))?.toString("utf8"));
  await unlink(taken);
  return request;
}

/** Skipped if the hand-off is newer than the text that the session received: the next session gets all of it. */
async function markTold(handoff: Handoff, { sessionKey, lastMessageIndex, sessionId }: ToldState): Promise<void> {
  const state = await handoff.get(sessionKey);
  if (state === undefined || state.lastMessageIndex > lastMessageIndex) return;
  await handoff.markOffered({ sessionKey, sessionId, compactions: 0, state, text: "" });
}

async function sweep(folder: string, keepMs: number): Promise<void> {
  for (const { name } of await readFolderIfPresent(folder)) {
    const path = join(folder, name);
    const changed = (await stat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - changed > keepMs) await unlink(path).catch(() => undefined);
  }
}
