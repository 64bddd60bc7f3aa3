/** What of Baileys' socket the channel uses, and how the real one is made. Baileys is an optional package. */
import type * as baileys from "baileys";
import type {
  AnyMessageContent,
  BaileysEventMap,
  Contact,
  MiscMessageGenerationOptions,
  UserFacingSocketConfig,
  WAMessage,
  WAPresence,
} from "baileys";
import { HoldfastError, systemErrorCode } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";

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
  /** Which phone number belongs to an id without one. Left out: nobody knows. */
  readonly signalRepository?: { lidMapping: { getPNForLID(lid: string): Promise<string | null> } };
  /** Closes the connection without logging out. */
  end(error: Error | undefined): void | Promise<void>;
}

export type MakeSocket = (config: UserFacingSocketConfig) => WhatsAppSocket;

export async function loadBaileys(load: () => Promise<Baileys> = loadPackage): Promise<Baileys> {
  try {
    return await load();
  } catch (error) {
    if (systemErrorCode(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new HoldfastError(
      "unsupported",
      "whatsapp-library-missing",
      "The WhatsApp library Baileys is not installed.",
      {
        hint: "Install it beside Holdfast: npm install baileys",
        cause: error,
      },
    );
  }
}

async function loadPackage(): Promise<Baileys> {
  return await import("baileys");
}

export function createSocket({ makeWASocket }: Baileys, config: UserFacingSocketConfig): WhatsAppSocket {
  return makeWASocket(config);
}

const ignore = (): void => undefined;

/** Baileys tells a lot, some of it private: only its warnings are passed on, without their details. */
export function baileysLogger(logger: Logger): NonNullable<UserFacingSocketConfig["logger"]> {
  const tell = (details: unknown, message?: string): void => {
    logger.debug("Baileys", { said: message ?? (typeof details === "string" ? details : "") });
  };
  const adapted: NonNullable<UserFacingSocketConfig["logger"]> = {
    level: "warn",
    child: () => adapted,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: tell,
    error: tell,
  };
  return adapted;
}
