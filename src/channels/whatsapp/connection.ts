/** Keeps a WhatsApp connection open: replaces a lost socket, with growing pauses, until it is refused or stopped. */
import type * as baileys from "baileys";
import type {
  BaileysEventMap,
  WAMessage,
  AnyMessageContent,
  Contact,
  MiscMessageGenerationOptions,
  UserFacingSocketConfig,
  WAPresence,
} from "baileys";
import { within } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError, systemErrorCode, type ErrorKind, errorMessage, messageWithHint } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { type ChannelHost, pauseAfter } from "../channel.ts";
import type { AuthState } from "./auth-state.ts";
import { isRecord } from "../../base/json-record.ts";

export interface KeepConnectedOptions {
  make: () => WhatsAppSocket;
  auth: AuthState;
  host: ChannelHost;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Limit for a socket that neither opens, nor shows a code, nor closes. */
  connectTimeoutMs: number;
  on: {
    open(socket: WhatsAppSocket): void;
    closed(): void;
    message(socket: WhatsAppSocket, message: WAMessage): void;
    renamed(jid: string, subject: string): void;
  };
}

/** Resolves when stopped; rejects when WhatsApp refuses the device. */
export async function keepConnected(options: KeepConnectedOptions): Promise<void> {
  const { host, clock, signal, auth, logger } = options;
  let attempt = 0;
  let restarts = 0;
  while (!signal.aborted) {
    const { wasOpen, disconnect } = await connectOnce(options);
    if (signal.aborted) return;
    if (wasOpen) attempt = 0;
    if (wasOpen) restarts = 0;
    if (disconnect.kind === "final") {
      if (disconnect.isLoggedOut) await auth.clear();
      const { error } = disconnect;
      logger.error("WhatsApp refuses the connection", { error });
      host.report({ state: "failed", text: `WhatsApp: ${messageWithHint(error)}` });
      throw error;
    }
    // WhatsApp requests a restart once, after pairing. More than a few are an ordinary failure.
    if (disconnect.kind === "restart" && restarts++ < 3) continue;
    const pause = pauseAfter(undefined, attempt++);
    const reason = disconnect.kind === "temporary" ? disconnect.text : "too many restarts requested";
    const text = `WhatsApp: connection lost (${reason}), trying again in ${Math.ceil(pause / 1000)} s.`;
    host.report({ state: "retrying", text });
    await clock.sleep(pause, signal).catch(() => undefined);
  }
}

const END_MS = 3000;
const EVENTS = ["connection.update", "creds.update", "groups.update"] as const;

async function connectOnce(options: KeepConnectedOptions): Promise<{ wasOpen: boolean; disconnect: Disconnect }> {
  const { make, auth, host, logger, signal, on } = options;
  let wasOpen = false;
  let saved = Promise.resolve();
  let socket: WhatsAppSocket;
  try {
    socket = make();
  } catch (error) {
    return { wasOpen, disconnect: readDisconnect(error) };
  }
  socket.ev.on("creds.update", (update) => {
    Object.assign(auth.state.creds, update);
    saved = saved.then(auth.saveCreds).catch((error: unknown) => {
      logger.error("cannot save the keys of the WhatsApp device", { error });
      host.report({ state: "retrying", text: "WhatsApp: cannot write the keys of this device to disk." });
    });
  });
  listenUnbuffered(socket, (message) => on.message(socket, message));
  socket.ev.on("groups.update", (groups) => {
    for (const { id, subject } of groups) if (id !== undefined && subject !== undefined) on.renamed(id, subject);
  });
  const closed = Promise.withResolvers<Disconnect>();
  const giveUp = (): void => closed.resolve({ kind: "temporary", text: "stopped" });
  // Baileys waits for ever if a server does not answer with a WebSocket.
  const noAnswer = { kind: "temporary" as const, text: "no answer" };
  const watchdog = setTimeout(closed.resolve, options.connectTimeoutMs, noAnswer);
  socket.ev.on("connection.update", ({ connection, qr, lastDisconnect }) => {
    if (connection === "open" || qr !== undefined) clearTimeout(watchdog);
    if (qr !== undefined) host.report({ state: "starting", text: SCAN, loginCode: qr });
    if (connection === "close") closed.resolve(readDisconnect(lastDisconnect?.error));
    if (connection !== "open") return;
    wasOpen = true;
    on.open(socket);
    const name = socket.user?.name ?? socket.user?.id ?? "";
    host.report({ state: "connected", text: `WhatsApp: connected${name === "" ? "" : ` as ${name}`}.` });
  });
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp, { once: true });
  const disconnect = await closed.promise;
  clearTimeout(watchdog);
  signal.removeEventListener("abort", giveUp);
  on.closed();
  for (const event of EVENTS) socket.ev.removeAllListeners(event);
  // Harmless for a socket that has ended.
  await within(END_MS, Promise.resolve(socket.end(undefined))).catch(() => undefined);
  await saved;
  return { wasOpen, disconnect };
}

/**
 * Baileys buffers messages for 100 ms and longer after acknowledging them to WhatsApp, and drops the buffer
 * when the connection breaks. So messages are taken when they enter the buffer.
 */
function listenUnbuffered({ ev }: WhatsAppSocket, onMessage: (message: WAMessage) => void): void {
  const emit = ev.emit.bind(ev);
  ev.emit = (event, value) => {
    if (event === "messages.upsert") {
      const { messages } = value as BaileysEventMap["messages.upsert"];
      for (const message of messages) onMessage(message);
    }
    return emit(event, value);
  };
}

const SCAN = "WhatsApp: scan this code with the phone (Settings, Linked devices, Link a device).";

export type Baileys = typeof baileys;

export interface WhatsAppSocket {
  readonly ev: {
    on<T extends keyof BaileysEventMap>(event: T, listener: (value: BaileysEventMap[T]) => void): void;
    emit<T extends keyof BaileysEventMap>(event: T, value: BaileysEventMap[T]): boolean;
    removeAllListeners(event: keyof BaileysEventMap): void;
  };
  readonly user?: Contact | undefined;
  sendMessage(
    jid: string,
    content: AnyMessageContent,
    options?: MiscMessageGenerationOptions,
  ): Promise<WAMessage | undefined>;
  sendPresenceUpdate(type: WAPresence, jid?: string): Promise<void>;
  groupMetadata(jid: string): Promise<{ subject: string }>;
  onWhatsApp(...jids: string[]): Promise<{ jid: string; exists: boolean }[] | undefined>;
  updateMediaMessage(message: WAMessage): Promise<WAMessage>;
  /** Looks up the phone number of an id. Optional. */
  readonly signalRepository?: { lidMapping: { getPNForLID(lid: string): Promise<string | null> } } | undefined;
  end(error: Error | undefined): void | Promise<void>;
}

export type MakeSocket = (config: UserFacingSocketConfig) => WhatsAppSocket;

export async function loadBaileys(load = async (): Promise<Baileys> => await import("baileys")): Promise<Baileys> {
  try {
    return await load();
  } catch (error) {
    if (systemErrorCode(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    const message = "The WhatsApp library Baileys is not installed.";
    const hint = "Install it next to Holdfast: npm install baileys";
    throw new HoldfastError("unsupported", "whatsapp-library-missing", message, { hint, cause: error });
  }
}

const ignore = (): void => undefined;

/** Baileys logs private data: only the messages of its warnings are passed on. */
export function baileysLogger(logger: Logger): NonNullable<UserFacingSocketConfig["logger"]> {
  const warn = (details: unknown, message?: string): void => {
    logger.debug("Baileys", { text: message ?? (typeof details === "string" ? details : "") });
  };
  const adapted: NonNullable<UserFacingSocketConfig["logger"]> = {
    level: "warn",
    child: () => adapted,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn,
    error: warn,
  };
  return adapted;
}

type Disconnect =
  /** Reconnect at once, as after pairing. */
  | { kind: "restart" }
  | { kind: "temporary"; text: string }
  /** No retry can help; `isLoggedOut` means that the keys are no longer valid. */
  | { kind: "final"; error: HoldfastError; isLoggedOut: boolean };

function readDisconnect(error: unknown): Disconnect {
  const status = statusOf(error);
  if (status === 515) return { kind: "restart" };
  const final = status === undefined ? undefined : FINAL[status];
  if (final === undefined) return { kind: "temporary", text: errorMessage(error ?? "connection closed") };
  const { code, message, hint } = final;
  const cause = new HoldfastError("forbidden", code, message, { hint, data: { status }, cause: error });
  return { kind: "final", error: cause, isLoggedOut: status === 401 };
}

const LOGIN = "Link it again: holdfast channels login --channel whatsapp";

const FINAL: Readonly<Record<number, { code: string; message: string; hint: string }>> = {
  401: {
    code: "whatsapp-logged-out",
    message: "WhatsApp has logged this device out.",
    hint: `It was removed in the phone's list of linked devices. ${LOGIN}`,
  },
  403: {
    code: "whatsapp-forbidden",
    message: "WhatsApp refuses this account.",
    hint: "The account may be banned; WhatsApp on the phone shows the reason.",
  },
  405: {
    code: "whatsapp-outdated",
    message: "WhatsApp does not accept this version of its web client.",
    hint: "Update the library: npm install baileys@latest",
  },
  411: {
    code: "whatsapp-multi-device",
    message: "WhatsApp refuses this linked device.",
    hint: `Update WhatsApp on the phone, remove the device there. ${LOGIN}`,
  },
  440: {
    code: "whatsapp-replaced",
    message: "Another program has taken over this WhatsApp connection.",
    hint: "Two gateways use the same account folder: stop one of them, then start this channel again.",
  },
};

/** Baileys' errors are Booms: the status is in `output`. */
function statusOf(error: unknown): number | undefined {
  const output = isRecord(error) ? error["output"] : undefined;
  const status = isRecord(output) ? output["statusCode"] : undefined;
  return typeof status === "number" ? status : undefined;
}

const CANNOT_WRITE = "The account cannot write there: it left the group, or only admins can write in it.";
const CONNECTION_DOWN = "The connection may be down; Holdfast reconnects automatically. Try again.";

export function whatsAppError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const status = statusOf(error);
  const fail = (kind: ErrorKind, code: string, hint: string): HoldfastError => {
    const text = `WhatsApp did not accept the message: ${errorMessage(error)}`;
    return new HoldfastError(kind, code, text, { hint, data: { status }, cause: error });
  };
  switch (status) {
    case 401:
    case 403:
      return fail("forbidden", "whatsapp-forbidden", CANNOT_WRITE);
    case 404:
      return fail("not-found", "whatsapp-not-found", "Check the number or the group.");
    case 408:
      return fail("timeout", "whatsapp-timeout", "It may have been sent anyway. Check the network, then try again.");
    default:
      return fail("unavailable", "whatsapp-unreachable", CONNECTION_DOWN);
  }
}
