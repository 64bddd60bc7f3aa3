/** Normalizes the names in keys. */
import { foldCase } from "./encoding.ts";

export const DEFAULT_AGENT_ID = "main";
const DEFAULT_MAIN_KEY = "main";
const DEFAULT_ACCOUNT_ID = "default";

/** Always usable as a folder name. */
export function normalizeAgentId(raw: string | null | undefined): string {
  return normalizeName(raw) ?? DEFAULT_AGENT_ID;
}

export function normalizeAccountId(raw: string | null | undefined): string {
  return normalizeName(raw) ?? DEFAULT_ACCOUNT_ID;
}

export function normalizeMainKey(raw: string | null | undefined): string {
  const name = foldCase((raw ?? "").trim());
  return name === "" ? DEFAULT_MAIN_KEY : name;
}

const PLAIN_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const MAX_NAME_LENGTH = 64;

function normalizeName(raw: string | null | undefined): string | undefined {
  const name = (raw ?? "").trim().toLowerCase();
  if (PLAIN_NAME.test(name)) return name;
  const plain = name
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, MAX_NAME_LENGTH)
    .replace(/-+$/, "");
  return plain === "" ? undefined : plain;
}
