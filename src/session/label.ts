/** Names that people give to sessions. */

const SESSION_LABEL_MAX_LENGTH = 64;

export type ParsedSessionLabel = { ok: true; label: string } | { ok: false; error: string };

export function parseSessionLabel(raw: unknown): ParsedSessionLabel {
  if (typeof raw !== "string") return { ok: false, error: "invalid label: must be a string" };
  const label = raw.trim();
  if (label === "") return { ok: false, error: "invalid label: empty" };
  if (label.length > SESSION_LABEL_MAX_LENGTH) {
    return { ok: false, error: `invalid label: too long (max ${SESSION_LABEL_MAX_LENGTH})` };
  }
  return { ok: true, label };
}
