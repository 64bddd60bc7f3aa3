/**
 * The background process of a Claude Code hook: captures hand-offs and records which session received one. It ends
 * within a bounded time, even if something hangs.
 */
import { rename, readdir, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PRIVATE_FILE, readFileIfPresent } from "../../base/files.ts";
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

/** Counts from the moment when the request is due. */
const HARD_LIMIT_MS = 30_000;
const MAX_WAIT_MS = 90_000;
const POLL_MS = 500;
const LOCK_MS = 10_000;
const MODEL_MS = 15_000;
const MAX_ROUNDS = 5;
const KEEP_MS = 86_400_000;

export async function hookWork(sessionId: string): Promise<void> {
  const { hookLog, hookRequestsFolder: folder } = claudeLayout(resolveHome());
  const logger = createHookLog(hookLog);
  try {
    if (!/^[0-9a-f-]{36}$/.test(sessionId)) return;
    await untilDue(folder, sessionId);
    setTimeout(() => process.exit(0), HARD_LIMIT_MS).unref();
    await withFileLock(`${requestFile(folder, sessionId)}.lock`, { timeoutMs: LOCK_MS }, async () => {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const request = await takeRequest(folder, sessionId);
        if (request === undefined) break;
        await carryOut(request);
        await writeFile(doneFile(folder, sessionId), "", { mode: PRIVATE_FILE });
      }
    });
    await sweep(folder);
  } catch (error) {
    logger.warn("the hand-off of a session was not captured", { sessionId, error });
  }
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

async function carryOut({ captures, told }: CaptureRequest): Promise<void> {
  const { home, config } = await loadSetup();
  const [{ openAgent }, { openHandoff }] = await Promise.all([
    import("../../compose/agent.ts"),
    import("../../compose/handoff.ts"),
  ]);
  const agent = await openAgent({ home, config });
  try {
    const handoff = await openHandoff({ home, config, env: process.env, agent });
    if (handoff === undefined) return;
    for (const { reason, ...target } of captures) await handoff.capture({ kind: "native", ...target }, reason);
    if (told !== undefined) await markTold(handoff, told);
    await Promise.race([handoff.settled(), new Promise((resolve) => setTimeout(resolve, MODEL_MS).unref())]);
    await handoff.close();
  } finally {
    await agent.store.close();
  }
}

/** Skipped if the hand-off is newer than the text that the session received: the next session gets all of it. */
async function markTold(handoff: Handoff, { sessionKey, lastMessageIndex, sessionId }: ToldState): Promise<void> {
  const state = await handoff.get(sessionKey);
  if (state === undefined || state.lastMessageIndex > lastMessageIndex) return;
  await handoff.markOffered({ sessionKey, sessionId, compactions: 0, state, text: "" });
}

/** Removes files older than a day. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const changed = (await stat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - changed > KEEP_MS) await unlink(path).catch(() => undefined);
  }
}
