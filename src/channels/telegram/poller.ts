/**
 * Long polling. Asking for offset n tells Telegram that everything below n is safe, so the offset only
 * ever moves past updates that were handled: admitted, or found to be nobody's business. That is why
 * the loop is our own: the client library's moves on after its handler has failed, and confirms what is
 * still under way when it is stopped.
 *
 * One update that cannot be kept, or takes long, does not hold up those of other chats: they are handled,
 * remembered, and skipped when Telegram sends them again; only the confirmation waits.
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
/** How long one chat may hold up the others, such as with a file that does not come. */
const SLOW_MS = 2000;
const AGAIN_MS = 1000;

/** Resolves after `signal`, when every update under way has ended, or when the token is refused. */
export async function poll(options: PollerOptions): Promise<void> {
  const { signal } = options;
  const state = createPollState();
  while (!signal.aborted) {
    try {
      const updates = await fetchUpdates(state.offset, options);
      const failed = await handleBatch(updates, state, options);
      if (failed !== undefined) throw failed;
      if (state.chats.size > 0) {
        // Telegram brings what is not confirmed again at once.
        await atMost(AGAIN_MS, Promise.all(state.chats.values()), options);
        continue;
      }
      if (state.failures > 0) options.report({ state: "connected", text: options.connectedText });
      state.failures = 0;
    } catch (error) {
      if (signal.aborted) break;
      if (!(await recover(error, state, options))) return;
    }
  }
  await Promise.all(state.chats.values());
  await sayFarewell(state, options);
}

interface PollState {
  offset: number;
  /** Handled, but not to be confirmed yet: one before them was not. */
  handled: Set<number>;
  /** Those of which something is being handled, and what. */
  chats: Map<string, Promise<void>>;
  underWay: Set<number>;
  /** What could not be kept since it was last told. */
  failed: { id: number; error: unknown }[];
  failures: number;
}

function createPollState(): PollState {
  return { offset: 0, handled: new Set(), chats: new Map(), underWay: new Set(), failed: [], failures: 0 };
}

async function fetchUpdates(offset: number, { telegram, signal }: PollerOptions): Promise<Update[]> {
  return await telegram.api.getUpdates(
    { offset, limit: 100, timeout: POLL_SECONDS, allowed_updates: ALLOWED_UPDATES },
    requestSignal(POLL_TIMEOUT_MS, signal),
  );
}

/**
 * Moves the offset up to the first update that is not safe yet, and gives the error of one that could not
 * be kept. A chat whose update takes long is left behind: what comes of it later waits at Telegram.
 */
async function handleBatch(updates: readonly Update[], state: PollState, options: PollerOptions): Promise<unknown> {
  const ordered = updates.toSorted((a, b) => idOf(a) - idOf(b));
  const open = ordered.filter((update) => !state.handled.has(idOf(update)));
  const started = [...Map.groupBy(open, chatOf)]
    .filter(([chat]) => !state.chats.has(chat))
    .map(async ([chat, ofChat]) => {
      const ids = ofChat.map(idOf);
      const work = handleChat(ofChat, state, options.inbound).finally(() => {
        state.chats.delete(chat);
        for (const id of ids) state.underWay.delete(id);
      });
      state.chats.set(chat, work);
      for (const id of ids) state.underWay.add(id);
      await work;
    });
  await atMost(SLOW_MS, Promise.all(started), options);
  const unsafe = [...open.map(idOf), ...state.underWay].filter((id) => !state.handled.has(id));
  const lastId = ordered.at(-1)?.update_id ?? -1;
  state.offset = Math.max(state.offset, Math.min(...unsafe, lastId + 1));
  for (const id of state.handled) if (id < state.offset) state.handled.delete(id);
  const [failed] = state.failed.splice(0).toSorted((a, b) => a.id - b.id);
  return failed?.error;
}

function idOf({ update_id: id }: Update): number {
  return id;
}

function chatOf({ message }: Update): string {
  return String(message?.chat.id);
}

/** Those behind one that could not be kept have to wait, or they would be admitted before it. */
async function handleChat(updates: readonly Update[], state: PollState, inbound: InboundHandler): Promise<void> {
  for (const update of updates) {
    const id = idOf(update);
    if (state.handled.has(id)) continue;
    try {
      await inbound.handle(update);
    } catch (error) {
      state.failed.push({ id, error });
      return;
    }
    state.handled.add(id);
  }
}

/** A pause that ends early with the work. */
async function atMost(ms: number, work: Promise<unknown>, { clock, signal }: PollerOptions): Promise<void> {
  const done = new AbortController();
  const pause = pauseUnlessStopped(clock, ms, AbortSignal.any([signal, done.signal]));
  await Promise.race([work, pause]);
  done.abort();
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
