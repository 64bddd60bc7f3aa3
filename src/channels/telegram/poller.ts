/**
 * Long polling. Asking for offset n tells Telegram that everything below n is safe, so the offset only
 * ever moves past updates that were handled: admitted, or found to be nobody's business. That is why
 * the loop is our own: the client library's moves on after its handler has failed, and confirms what is
 * still under way when it is stopped.
 *
 * One update that cannot be kept does not hold up those after it: they are handled, remembered, and
 * skipped when Telegram sends them again; only the confirmation waits.
 */
import type { Update } from "grammy/types";
import type { Clock } from "../../base/clock.ts";
import { reportError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ChannelStatus } from "../channel.ts";
import { pauseAfter } from "../keep-trying.ts";
import { isTokenRefused, refusalOf, telegramError, tokenRefused } from "./api-errors.ts";
import { type TelegramApi, requestSignal } from "./api.ts";
import { ALLOWED_UPDATES, type InboundHandler } from "./inbound.ts";

export interface PollerOptions {
  telegram: TelegramApi;
  accountId: string;
  inbound: InboundHandler;
  clock: Clock;
  logger: Logger;
  report: (status: ChannelStatus) => void;
  signal: AbortSignal;
  /** What is said when messages arrive again after a failure. */
  connectedText: string;
}

const POLL_SECONDS = 30;
/** A connection that died without a word is given up a little later than Telegram would have answered. */
const POLL_TIMEOUT_MS = (POLL_SECONDS + 15) * 1000;
/** Every attempt ends the other program's request, so there should not be many. */
const SHORTEST_CONFLICT_PAUSE_MS = 5000;
const FAREWELL_TIMEOUT_MS = 1500;

/** Resolves after `signal`, when every update under way has ended, or when the token is refused. */
export async function poll(options: PollerOptions): Promise<void> {
  const { signal } = options;
  const state: PollState = { offset: 0, handled: new Set(), failures: 0 };
  while (!signal.aborted) {
    try {
      const updates = await fetchUpdates(state.offset, options);
      const failed = await handleBatch(updates, state, options);
      if (failed !== undefined) throw failed;
      if (state.failures > 0) options.report({ state: "connected", text: options.connectedText });
      state.failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      if (!(await recover(error, state, options))) return;
    }
  }
  await sayFarewell(state, options);
}

interface PollState {
  offset: number;
  /** Handled, but not to be confirmed yet: one before them was not. */
  handled: Set<number>;
  failures: number;
}

async function fetchUpdates(offset: number, { telegram, signal }: PollerOptions): Promise<Update[]> {
  return await telegram.api.getUpdates(
    { offset, limit: 100, timeout: POLL_SECONDS, allowed_updates: ALLOWED_UPDATES },
    requestSignal(POLL_TIMEOUT_MS, signal),
  );
}

/** Moves the offset up to the first update that could not be kept, and gives that one's error. */
async function handleBatch(updates: readonly Update[], state: PollState, { inbound }: PollerOptions): Promise<unknown> {
  const ordered = updates.toSorted((a, b) => a.update_id - b.update_id);
  const chats = Object.values(Object.groupBy(ordered, (update) => String(update.message?.chat.id)));
  const outcomes = await Promise.all(
    chats.map(async (ofChat = []) => {
      for (const update of ofChat) {
        const failure = await handleOnce(update, state, inbound);
        // Those behind it in the same chat have to wait, or they would be admitted before it.
        if (failure !== undefined) return failure;
      }
      return undefined;
    }),
  );
  const failures = outcomes.filter((outcome) => outcome !== undefined).toSorted((a, b) => a.id - b.id);
  const lastId = ordered.at(-1)?.update_id;
  const confirmed = failures[0]?.id ?? (lastId === undefined ? 0 : lastId + 1);
  state.offset = Math.max(state.offset, confirmed);
  for (const id of state.handled) if (id < state.offset) state.handled.delete(id);
  return failures[0]?.error;
}

async function handleOnce(
  update: Update,
  state: PollState,
  inbound: InboundHandler,
): Promise<{ id: number; error: unknown } | undefined> {
  const id = update.update_id;
  if (state.handled.has(id)) return undefined;
  try {
    await inbound.handle(update);
    state.handled.add(id);
    return undefined;
  } catch (error) {
    return { id, error };
  }
}

/** False when no retry can help. */
async function recover(error: unknown, state: PollState, options: PollerOptions): Promise<boolean> {
  const { accountId, clock, logger, report, signal } = options;
  if (isTokenRefused(error)) {
    const refused = tokenRefused(accountId);
    logger.error("the Telegram channel has stopped", { error: refused });
    report({ state: "failed", text: `${refused.message}. ${refused.hint ?? ""}` });
    return false;
  }
  state.failures += 1;
  const { text, pauseMs } = explain(error, state.failures);
  logger.warn("the Telegram channel is retrying", { reason: text, pauseMs });
  report({ state: "retrying", text });
  await pauseUnlessStopped(clock, pauseMs, signal);
  return true;
}

/** A failed admission is any error that is neither Telegram's nor the network's. */
function explain(error: unknown, failures: number): { text: string; pauseMs: number } {
  const refusal = refusalOf(error);
  const isFetching = refusal !== undefined || (error instanceof Error && error.name === "HttpError");
  const known = isFetching ? telegramError(error, "fetch messages from Telegram") : undefined;
  const pauseMs = pauseAfter(known ?? error, failures - 1);
  if (refusal?.status === 409) {
    return { text: conflictText(refusal.description), pauseMs: Math.max(SHORTEST_CONFLICT_PAUSE_MS, pauseMs) };
  }
  const text = known?.message ?? `A message could not be kept, so Telegram keeps it: ${reportError(error).message}`;
  return { text, pauseMs };
}

/** A pause that ends early when the channel stops; that is no failure. */
export async function pauseUnlessStopped(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(pauseMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function conflictText(description: string): string {
  return /webhook/i.test(description)
    ? "Telegram delivers this bot's messages to a webhook that something else has set; it is tried again, but that has to be switched off there."
    : "Another program fetches this bot's messages with the same token, and Telegram serves one at a time: stop the other one, or give each its own bot.";
}

/** Confirms what was handled, so that the next start does not begin with it. Nothing depends on it. */
async function sayFarewell({ offset }: PollState, { telegram }: PollerOptions): Promise<void> {
  if (offset === 0) return;
  await telegram.api
    .getUpdates({ offset, limit: 1, timeout: 0, allowed_updates: ALLOWED_UPDATES }, requestSignal(FAREWELL_TIMEOUT_MS))
    .catch(() => undefined);
}
