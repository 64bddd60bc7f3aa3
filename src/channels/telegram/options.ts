/** What the owner of a Telegram bot can set. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { AccessOptions } from "../access.ts";

export interface TelegramOptions extends AccessOptions {
  accountId: string;
  /** From @BotFather. */
  token: string;
  /** Polling needs no address that Telegram can reach; a webhook does. */
  mode: "polling" | "webhook";
  /** Needed for mode `webhook`. */
  webhook?: TelegramWebhook | undefined;
  /** Another Bot API server. Left out: Telegram's own. */
  apiRoot?: string | undefined;
  /** Where files that people send are kept. Left out: they are not fetched. */
  mediaFolder?: string | undefined;
  /** Left out: 20 MB, which is what Telegram hands out. */
  maxMediaBytes?: number | undefined;
  clock: Clock;
  logger: Logger;
}

export interface TelegramWebhook {
  /** The https address under which the gateway hands requests to `handleWebhook`. */
  url: string;
  /** 1–256 characters of A–Z, a–z, 0–9, _ and -; Telegram sends it with every request. */
  secretToken: string;
}
