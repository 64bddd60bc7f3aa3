/** Converts Discord's errors, for a sender and for the person who configures the channel. */
import { type ErrorKind, HoldfastError, errorMessage } from "../../base/errors.ts";
import { isRecord } from "../../base/json-record.ts";

/** The kind of the error says whether a retry can help. `action` completes "Discord did not …". */
export function discordError(error: unknown, action: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const cause = error;
  const text = `Discord did not ${action}: ${errorMessage(error)}`;
  const retryAfterMs = retryAfterOf(error);
  if (retryAfterMs !== undefined) {
    return new HoldfastError("unavailable", "discord-rate-limit", `Discord limits the rate and did not ${action}.`, {
      hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
      data: { retryAfterMs },
      cause,
    });
  }
  const { status, code } = refusalOf(error);
  const data = { status, discordCode: code };
  const known = REFUSALS.find((refusal) => refusal.fits(status, code));
  if (known !== undefined) return new HoldfastError(known.kind, known.code, text, { hint: known.hint, data, cause });
  if (error instanceof Error && error.name === "AbortError") {
    return new HoldfastError("timeout", "discord-timeout", `Discord did not answer in time when asked to ${action}.`, {
      hint: "It may have succeeded anyway. Check the network, then try again.",
      cause,
    });
  }
  return new HoldfastError("unavailable", "discord-unreachable", text, {
    hint: "Discord or the network may be down (https://discordstatus.com); try again.",
    data,
    cause,
  });
}

/** The first match counts. */
const REFUSALS: readonly {
  fits(status: number | undefined, code: number | undefined): boolean;
  kind: ErrorKind;
  code: string;
  hint: string;
}[] = [
  {
    fits: (_, code) => code === 50_007,
    kind: "forbidden",
    code: "discord-dm-closed",
    hint: "This person does not accept direct messages from the bot. Ask them to allow messages from server members.",
  },
  {
    fits: (status) => status === 401,
    kind: "forbidden",
    code: "discord-token-invalid",
    hint: "The bot's token is no longer valid: copy a new one from the Discord developer portal (Bot, Reset Token).",
  },
  {
    fits: (status) => status === 403,
    kind: "forbidden",
    code: "discord-forbidden",
    hint: "Give the bot the permissions View Channel, Send Messages and Attach Files there.",
  },
  {
    fits: (status) => status === 404,
    kind: "not-found",
    code: "discord-not-found",
    hint: "The channel, thread or person no longer exists, or the bot was removed from the server.",
  },
  {
    fits: (status, code) => status === 413 || code === 40_005,
    kind: "usage",
    code: "media-too-large",
    hint: "The file is too large for Discord: send a smaller one or a link.",
  },
  {
    fits: (status) => status !== undefined && status >= 400 && status < 500,
    kind: "usage",
    code: "discord-refused",
    hint: "Discord does not accept this message.",
  },
];

/** True if Discord only rejected the reference to another message; nothing was sent then. */
export function isReferenceRefused(error: unknown): boolean {
  const { code } = refusalOf(error);
  // 160002: without permission to read the history the bot cannot reply.
  if (code === 160_002) return true;
  const raw = isRecord(error) ? error["rawError"] : undefined;
  const errors = isRecord(raw) ? raw["errors"] : undefined;
  return code === 50_035 && isRecord(errors) && "message_reference" in errors;
}

/** In ms. */
function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("retryAfter" in error) || typeof error.retryAfter !== "number") return undefined;
  return Math.max(0, Math.ceil(error.retryAfter));
}

function refusalOf(error: unknown): { status?: number | undefined; code?: number | undefined } {
  if (!(error instanceof Error)) return {};
  const status = "status" in error && typeof error.status === "number" ? error.status : undefined;
  const code = "code" in error && typeof error.code === "number" ? error.code : undefined;
  return { status, code };
}

/** The reason why Discord will always refuse this bot; undefined for a failure that may pass. */
export function misconfiguration(error: unknown, closeCode: number | undefined): HoldfastError | undefined {
  const isTokenRefused = error instanceof Error && "code" in error && error.code === "TokenInvalid";
  if (isTokenRefused || closeCode === 4004) {
    return new HoldfastError("forbidden", "discord-token-invalid", "Discord does not accept the bot's token.", {
      hint: "Copy the token again from https://discord.com/developers/applications (your application, Bot, Reset Token).",
      cause: error,
    });
  }
  if (closeCode === 4014 || closeCode === 4013) {
    const message = "Discord does not let the bot read messages: the Message Content intent is off.";
    return new HoldfastError("forbidden", "discord-intent-missing", message, {
      hint: "Switch on Message Content Intent at https://discord.com/developers/applications (your application, Bot, Privileged Gateway Intents).",
      cause: error,
    });
  }
  if (closeCode !== 4010 && closeCode !== 4011 && closeCode !== 4012) return undefined;
  const message = `Discord's gateway refuses the bot (close code ${closeCode}).`;
  return new HoldfastError("unsupported", "discord-gateway-refused", message, {
    hint: "The bot is in too many servers for one connection, or discord.js is too old: update Holdfast.",
    cause: error,
  });
}
