export type ChatType = "direct" | "group" | "channel";

/** Reads a chat type in any spelling; `dm` is the old word for `direct`. */
export function normalizeChatType(raw: string | undefined): ChatType | undefined {
  const value = raw?.trim().toLowerCase();
  if (value === "direct" || value === "dm") return "direct";
  return value === "group" || value === "channel" ? value : undefined;
}
