/** What it means when WhatsApp closes the connection. */
import { HoldfastError, errorMessage } from "../../base/errors.ts";

export type Disconnect =
  /** As after pairing: come back at once. */
  | { kind: "restart" }
  | { kind: "passing"; text: string }
  /** Trying again does not help; `isLoggedOut` says that the keys are worth nothing any more. */
  | { kind: "final"; error: HoldfastError; isLoggedOut: boolean };

export function readDisconnect(error: unknown): Disconnect {
  const status = statusOf(error);
  if (status === 515) return { kind: "restart" };
  const final = status === undefined ? undefined : FINAL[status];
  if (final === undefined) return { kind: "passing", text: errorMessage(error ?? "connection closed") };
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
    message: "WhatsApp does not let this account in.",
    hint: "The account may be banned: open WhatsApp on the phone, it says why.",
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

/** Baileys' errors are Booms: the code lies under `output`. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("output" in error)) return undefined;
  const { output } = error;
  if (typeof output !== "object" || output === null || !("statusCode" in output)) return undefined;
  return typeof output.statusCode === "number" ? output.statusCode : undefined;
}
