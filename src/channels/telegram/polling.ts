/**
 * Long polling. Requesting offset n confirms every update below n, so the offset only moves past updates
 * that were handled (admitted or ignored). The loop is our own because the library's confirms updates whose
 * handler failed or has not ended.
 *
 * A slow or failed update does not block other chats: their updates are handled, remembered, and skipped
 * when Telegram sends them again; only the confirmation waits.
 */
import type { Update } from "grammy/types";
import { reportError, messageWithHint } from "../../base/errors.ts";
import { pauseAfter } from "../channel.ts";
import {
  ALLOWED_UPDATES,
  type TelegramRun,
  requestSignal,
  isTokenRefused,
  refusalOf,
  telegramError,
  tokenRefused,
} from "./connection.ts";
import type { InboundHandler } from "./inbound.ts";

export interface PollerOptions extends TelegramRun {
  inbound: InboundHandler;
  connectedText: string;
}

const POLL_SECONDS = 30;
/** Ends a dead connection shortly after Telegram would have answered. */
const POLL_TIMEOUT_MS = (POLL_SECONDS + 15) * 1000;
/** Each attempt aborts the other program's request, so attempts are rare. */
const MIN_CONFLICT_PAUSE_MS = 5000;
const FINAL_CONFIRM_TIMEOUT_MS = 1500;
/** How long one chat, such as one with a slow download, may delay the others. */
const SLOW_CHAT_MS = 2000;
const REPEAT_PAUSE_MS = 1000;

/** Resolves after `signal`, when all updates in progress have ended, or when the token is refused. */
export async function poll(options: PollerOptions): Promise<void> {
  const { signal } = options;
  const state = createState();
  while (!signal.aborted) {
    try {
      const updates = await fetchUpdates(state.offset, options);
      const failed = await handleBatch(updates, state, options);
      if (failed !== undefined) throw failed;
      if (state.running.size > 0) {
        // Telegram resends unconfirmed updates at once.
        await atMost(REPEAT_PAUSE_MS, Promise.allSettled(state.running.values()), options);
        continue;
      }
      if (state.failures > 0) options.host.report({ state: "connected", text: options.connectedText });
      state.failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      if (!(await recover(error, state, options))) return;
    }
  }
  await Promise.allSettled(state.running.values());
  await confirmHandled(state, options);
}

type PollState = ReturnType<typeof createState>;

function createState() {
  return {
    offset: 0,
    /** Handled, but not confirmed: an earlier update is not handled yet. */
    handled: new Set<number>(),
    running: new Map<number, Promise<void>>(),
    /** The last update of each chat. */
    chats: new Map<string, Promise<void>>(),
    failed: [] as { id: number; error: unknown }[],
    failures: 0,
  };
}

async function fetchUpdates(offset: number, { telegram, signal }: PollerOptions): Promise<Update[]> {
  return await telegram.api.getUpdates(
    { offset, limit: 100, timeout: POLL_SECONDS, allowed_updates: ALLOWED_UPDATES },
    requestSignal(POLL_TIMEOUT_MS, signal),
  );
}

/** Moves the offset to the first update that is not handled; returns the error of one that failed. Slow chats go on. */
async function handleBatch(updates: readonly Update[], state: PollState, options: PollerOptions): Promise<unknown> {
  const { handled, running } = state;
  const ids = updates.map(idOf);
  for (const update of updates.toSorted((a, b) => idOf(a) - idOf(b))) {
    if (!handled.has(idOf(update)) && !running.has(idOf(update))) handleInTurn(update, state, options.inbound);
  }
  await atMost(SLOW_CHAT_MS, Promise.allSettled(running.values()), options);
  const unsafe = [...ids, ...running.keys()].filter((id) => !handled.has(id));
  state.offset = Math.max(state.offset, Math.min(...unsafe, Math.max(-1, ...ids) + 1));
  for (const id of handled) if (id < state.offset) handled.delete(id);
  const [failed] = state.failed.splice(0).toSorted((a, b) => a.id - b.id);
  return failed?.error;
}

function idOf({ update_id: id }: Update): number {
  return id;
}

/** After a failure the later updates of the chat fail too, so that none is admitted before it. */
function handleInTurn(update: Update, { chats, running, handled, failed }: PollState, inbound: InboundHandler): void {
  const id = idOf(update);
  const chat = String((update.message ?? update.callback_query?.message)?.chat.id);
  const work = (chats.get(chat) ?? Promise.resolve()).then(async () => {
    await inbound.handle(update);
    handled.add(id);
  });
  chats.set(chat, work);
  running.set(id, work);
  void work
    .catch((error: unknown) => void failed.push({ id, error }))
    .finally(() => {
      running.delete(id);
      if (chats.get(chat) === work) chats.delete(chat);
    });
}

/** A pause that ends early with the work. */
async function atMost(ms: number, work: Promise<unknown>, { clock, signal }: PollerOptions): Promise<void> {
  const done = new AbortController();
  const pause = clock.sleep(ms, AbortSignal.any([signal, done.signal])).catch(() => undefined);
  await Promise.race([work, pause]);
  done.abort();
}

async function recover(failure: unknown, state: PollState, options: PollerOptions): Promise<boolean> {
  const { accountId, clock, host, logger, signal } = options;
  if (isTokenRefused(failure)) {
    const refused = tokenRefused(accountId);
    logger.error("Telegram channel stopped", { error: refused });
    host.report({ state: "failed", text: messageWithHint(refused) });
    return false;
  }
  state.failures += 1;
  const { text, pauseMs } = explain(failure, state.failures);
  logger.warn("Telegram channel retrying", { reason: text, pauseMs });
  host.report({ state: "retrying", text });
  await clock.sleep(pauseMs, signal).catch(() => undefined);
  return true;
}

/** An error that is neither Telegram's nor the network's is a failed admission. */
function explain(error: unknown, failures: number): { text: string; pauseMs: number } {
  const refusal = refusalOf(error);
  const isFetching = refusal !== undefined || (error instanceof Error && error.name === "HttpError");
  const known = isFetching ? telegramError(error, "fetch messages from Telegram") : undefined;
  const pauseMs = pauseAfter(known ?? error, failures - 1);
  if (refusal?.status === 409) {
    return { text: conflictText(refusal.description), pauseMs: Math.max(MIN_CONFLICT_PAUSE_MS, pauseMs) };
  }
  const text = known?.message ?? `Cannot store a message; Telegram will send it again: ${reportError(error).message}`;
  return { text, pauseMs };
}

function conflictText(description: string): string {
  return /webhook/i.test(description)
    ? "Another program has set a webhook for this bot, so polling gets nothing. Retrying; remove the webhook there."
    : "Another program polls this bot with the same token, and Telegram serves one at a time: stop the other one, or use two bots.";
}

/** Saves the next start from fetching handled updates again. Best effort. */
async function confirmHandled({ offset }: PollState, { telegram }: PollerOptions): Promise<void> {
  if (offset === 0) return;
  await telegram.api
    .getUpdates(
      { offset, limit: 1, timeout: 0, allowed_updates: ALLOWED_UPDATES },
      requestSignal(FINAL_CONFIRM_TIMEOUT_MS),
    )
    .catch(() => undefined);
}
