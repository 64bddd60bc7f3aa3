/** Calls to the Bot API as the server receives them: JSON or multipart, with files. */
import type { IncomingMessage } from "node:http";
import { parseBody, readBytes } from "../fake-server.ts";

export interface BotCall {
  method: string;
  params: Record<string, unknown>;
  /** By parameter name. */
  files: Record<string, { name: string; bytes: Buffer }>;
  /** Set once answered. */
  result?: unknown;
}

/** An error in Telegram's format. */
export interface BotFailure {
  error_code: number;
  description: string;
  parameters?: { retry_after?: number; migrate_to_chat_id?: number };
}

export async function readCall(method: string, incoming: IncomingMessage): Promise<BotCall> {
  const body = await readBytes(incoming);
  const contentType = incoming.headers["content-type"] ?? "";
  if (contentType.startsWith("multipart/form-data")) return await readForm(method, body, contentType);
  return { method, params: parseBody(body), files: {} };
}

async function readForm(method: string, body: Buffer, contentType: string): Promise<BotCall> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  const params: Record<string, unknown> = {};
  const attached = new Map<string, File>();
  for (const [name, value] of form) {
    if (typeof value === "string") params[name] = readField(value);
    else attached.set(`attach://${name}`, value);
  }
  const files: BotCall["files"] = {};
  for (const [name, value] of Object.entries(params)) {
    const file = typeof value === "string" ? attached.get(value) : undefined;
    if (file !== undefined) files[name] = { name: file.name, bytes: Buffer.from(await file.arrayBuffer()) };
  }
  return { method, params, files };
}

/** Form fields are text, and objects are JSON. */
function readField(value: string): unknown {
  if (/^-?\d+$/.test(value)) return Number(value);
  if (value === "true" || value === "false") return value === "true";
  if (!/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
