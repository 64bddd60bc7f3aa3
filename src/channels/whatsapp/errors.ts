/** Converts WhatsApp's failures: closed connections and failed sends. */
import { type ErrorKind, HoldfastError, errorMessage } from "../../base/errors.ts";
import { isRecord } from "../../base/json-record.ts";

export type Disconnect =
  /** Reconnect at once, as after pairing. */
  | { kind: "restart" }
  | { kind: "temporary"; text: string }
  /** No retry can help; `isLoggedOut` means that the keys are no longer valid. */
  | { kind: "final"; error: HoldfastError; isLoggedOut: boolean };

export function readDisconnect(error: unknown): Disconnect {
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
