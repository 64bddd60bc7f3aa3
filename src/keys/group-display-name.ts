export interface GroupDisplayParams {
  provider?: string | undefined;
  subject?: string | undefined;
  groupChannel?: string | undefined;
  space?: string | undefined;
  id?: string | undefined;
  key: string;
}

/** A short name for lists: `discord:my-guild#general`, `whatsapp:g-family-friends`. */
export function buildGroupDisplayName(params: GroupDisplayParams): string {
  const provider = text(params.provider)?.toLowerCase() ?? "group";
  const token = labelToken(groupLabel(params));
  const isSelfMarked = /^(?:[@#]|g-)/.test(token) || token.includes("#");
  return token === "" ? provider : `${provider}:${isSelfMarked ? token : `g-${token}`}`;
}

function groupLabel(params: GroupDisplayParams): string {
  const channel = text(params.groupChannel);
  const space = text(params.space);
  if (channel !== undefined && space !== undefined) return `${space}#${channel.replace(/^#/, "")}`;
  if (channel !== undefined) return channel;
  // A leading # says "channel", so a subject must not bring one along.
  const subject = text(params.subject)?.replace(/^#+/, "");
  return text(subject) ?? space ?? text(params.id) ?? params.key;
}

function labelToken(label: string): string {
  return label
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}#@._+-]+/gu, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

function text(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === "" ? undefined : trimmed;
}
