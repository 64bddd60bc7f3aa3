/**
 * What a hook of Claude Code left to be done, by a process of its own that nobody waits for: captures, and noting what was
 * told to whom. It ends within a bounded time, whatever hangs.
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
import { createHookLog } from "../../hooks/claude-code/hook-log.ts";
import { loadSetup } from "../context.ts";

/** Once there is something to do. */
const HARD_LIMIT_MS = 30_000;
const MOST_WAITING_MS = 90_000;
const LOOK_MS = 500;
const LOCK_MS = 10_000;
const MODEL_MS = 15_000;
const MOST_ROUNDS = 5;
const KEPT_MS = 86_400_000;

export async function hookWork(sessionId: string): Promise<void> {
  const { hookLog, hookRequestsFolder: folder } = claudeLayout(resolveHome());
  const logger = createHookLog(hookLog);
  try {
    if (!/^[0-9a-f-]{36}$/.test(sessionId)) return;
    await untilDue(folder, sessionId);
    setTimeout(() => process.exit(0), HARD_LIMIT_MS).unref();
    await withFileLock(`${requestFile(folder, sessionId)}.lock`, { timeoutMs: LOCK_MS }, async () => {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const request = await takeRequest(folder, sessionId);
        if (request === undefined) break;
        await carryOut(request);
        await writeFile(doneFile(folder, sessionId), "", { mode: PRIVATE_FILE });
      }
    });
    await sweep(folder);
  } catch (error) {
    logger.warn("what a session left was not captured", { sessionId, error });
  }
}

/** Not later than the session's end, of which nobody may have told us. */
async function untilDue(folder: string, sessionId: string): Promise<void> {
  const { runningIds } = await import("../../handoff/native-sessions.ts");
  const latest = Date.now() + MOST_WAITING_MS;
  while (Date.now() < latest) {
    const request = parseRequest((await readFileIfPresent(requestFile(folder, sessionId)))?.toString("utf8"));
    if ((request?.notBefore ?? 0) <= Date.now()) return;
    if (!(await runningIds(resolveClaudeHome())).has(sessionId)) return;
    await delay(LOOK_MS);
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
    import("../../compose.ts"),
    import("../../compose-handoff.ts"),
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

/** A hook knows only the last words of what nobody had captured: the next session is told all of it. */
async function markTold(handoff: Handoff, { sessionKey, lastMessageIndex, sessionId }: ToldState): Promise<void> {
  const state = await handoff.get(sessionKey);
  if (state === undefined || state.lastMessageIndex > lastMessageIndex) return;
  await handoff.markOffered({ sessionKey, sessionId, compactions: 0, state, text: "" });
}

/** What sessions of other days have left here. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const changed = (await stat(path).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - changed > KEPT_MS) await unlink(path).catch(() => undefined);
  }
}
