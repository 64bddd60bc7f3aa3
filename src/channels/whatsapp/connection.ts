/** Keeps a WhatsApp connection up: one socket after the other, with growing pauses, until it is over for good. */
import type { BaileysEventMap, WAMessage } from "baileys";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { ChannelHost } from "../channel.ts";
import { pauseAfter } from "../keep-trying.ts";
import type { AuthState } from "./auth-state.ts";
import { type Disconnect, readDisconnect } from "./disconnects.ts";
import type { WhatsAppSocket } from "./socket.ts";

export interface KeepConnectedOptions {
  make: () => WhatsAppSocket;
  auth: AuthState;
  host: ChannelHost;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** For a socket that neither opens, nor shows a code, nor closes. */
  connectTimeoutMs: number;
  on: {
    open(socket: WhatsAppSocket): void;
    closed(): void;
    message(socket: WhatsAppSocket, message: WAMessage): void;
    renamed(jid: string, subject: string): void;
  };
}

/** Resolves when it was stopped; rejects when WhatsApp will not have it back. */
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
      logger.error("WhatsApp has closed the connection for good.", { error });
      host.report({ state: "failed", text: `WhatsApp: ${error.message} ${error.hint ?? ""}`.trim() });
      throw error;
    }
    // WhatsApp asks for this once, after pairing. More than a few times it is a failure like others.
    if (disconnect.kind === "restart" && restarts++ < 3) continue;
    const pause = pauseAfter(undefined, attempt++);
    const reason = disconnect.kind === "passing" ? disconnect.text : "it asks for a restart again and again";
    const text = `WhatsApp: connection lost (${reason}), trying again in ${Math.ceil(pause / 1000)} s.`;
    host.report({ state: "retrying", text });
    await clock.sleep(pause, signal).catch(() => undefined);
  }
}

const EVENTS = ["connection.update", "creds.update", "groups.update"] as const;

/** The life of one socket. */
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
      logger.error("The keys of the WhatsApp device cannot be kept.", { error });
      host.report({ state: "retrying", text: "WhatsApp: the keys of this device cannot be written to disk." });
    });
  });
  hearAtOnce(socket, (message) => on.message(socket, message));
  socket.ev.on("groups.update", (groups) => {
    for (const { id, subject } of groups) if (id !== undefined && subject !== undefined) on.renamed(id, subject);
  });
  let stop: (() => void) | undefined;
  let watchdog: NodeJS.Timeout | undefined;
  const disconnect = await new Promise<Disconnect>((resolve) => {
    const giveUp = (): void => resolve({ kind: "passing", text: "stopped" });
    stop = giveUp;
    // Baileys waits for ever where a server answers with something else than a WebSocket.
    watchdog = setTimeout(() => resolve({ kind: "passing", text: "no answer" }), options.connectTimeoutMs);
    socket.ev.on("connection.update", ({ connection, qr, lastDisconnect }) => {
      if (connection === "open" || qr !== undefined) clearTimeout(watchdog);
      if (qr !== undefined) host.report({ state: "starting", text: SCAN, loginCode: qr });
      if (connection === "close") resolve(readDisconnect(lastDisconnect?.error));
      if (connection !== "open") return;
      wasOpen = true;
      on.open(socket);
      const name = socket.user?.name ?? socket.user?.id ?? "";
      host.report({ state: "connected", text: `WhatsApp: connected${name === "" ? "" : ` as ${name}`}.` });
    });
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
  clearTimeout(watchdog);
  if (stop !== undefined) signal.removeEventListener("abort", stop);
  on.closed();
  for (const event of EVENTS) socket.ev.removeAllListeners(event);
  await endSocket(socket);
  await saved;
  return { wasOpen, disconnect };
}

const END_MS = 3000;

/** Harmless for one that has ended; one that does not want to end is left behind. */
async function endSocket(socket: WhatsAppSocket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, END_MS);
  const ended = Promise.resolve(socket.end(undefined)).catch(() => undefined);
  await Promise.race([ended, promise]);
  clearTimeout(timer);
}

/**
 * Baileys collects messages for a tenth of a second and longer before it tells them, although it has
 * confirmed them to WhatsApp, and forgets what it has collected when the connection breaks. So they are
 * heard where they enter its buffer.
 */
function hearAtOnce({ ev }: WhatsAppSocket, hear: (message: WAMessage) => void): void {
  const emit = ev.emit.bind(ev);
  ev.emit = (event, value) => {
    if (event === "messages.upsert") {
      const { messages } = value as BaileysEventMap["messages.upsert"];
      for (const message of messages) hear(message);
    }
    return emit(event, value);
  };
}

const SCAN = "WhatsApp: scan this code with the phone (Settings, Linked devices, Link a device).";
