/**
 * WhatsApp's addresses. A person has a phone number (`1555@s.whatsapp.net`) and, since WhatsApp hides
 * numbers, an id without one (`987@lid`); either may carry a device (`1555:12@…`). Groups end in `@g.us`.
 */
import { HoldfastError } from "../../base/errors.ts";

const PHONE = "@s.whatsapp.net";
const LID = "@lid";
const GROUP = "@g.us";

export function isGroupJid(jid: string): boolean {
  return jid.endsWith(GROUP);
}

/** A person; neither a group nor a broadcast, a newsletter or a status. */
export function isPersonJid(jid: string): boolean {
  return jid.endsWith(PHONE) || jid.endsWith(LID);
}

/** Without the device, and with the one spelling of the phone's server. */
export function plainJid(jid: string): string {
  return jid.replace(/:\d+@/, "@").replace(/@c\.us$/, PHONE);
}

/** Each of those that are there, once. */
export function plainJids(jids: readonly (string | null | undefined)[]): string[] {
  const given = jids.flatMap((jid) => (jid === undefined || jid === null || jid === "" ? [] : [plainJid(jid)]));
  return [...new Set(given)];
}

/** `+1555`; undefined for an address that has no number. */
export function phoneOf(jid: string): string | undefined {
  const digits = /^(\d+)@s\.whatsapp\.net$/.exec(plainJid(jid))?.[1];
  return digits === undefined ? undefined : `+${digits}`;
}

/** From `+1555`, `whatsapp:+1555`, `whatsapp:group:…@g.us` or an address as it is. */
export function parseWhatsAppTarget(to: string): string {
  const address = to
    .trim()
    .replace(/^whatsapp:/i, "")
    .replace(/^(?:group|dm|direct|user):/i, "");
  if (/^[\w.-]+@(?:g\.us|lid|s\.whatsapp\.net|c\.us)$/.test(address)) return plainJid(address);
  const digits = address.replace(/[\s().-]/g, "").replace(/^\+/, "");
  if (/^\d{5,20}$/.test(digits)) return digits + PHONE;
  throw new HoldfastError("usage", "whatsapp-target", `Not a WhatsApp address: ${to}`, {
    hint: "Write a phone number with its country code (+15551234567) or the address of a group (…@g.us).",
    data: { to },
  });
}
