/** What a hook added to its event, looked at before anybody uses it: all of it is fit, or none is taken. */
import { isRecord } from "../base/json-record.ts";
import { printableLine } from "../base/printable.ts";
import type { BootstrapFile } from "./hook.ts";

export interface Additions {
  messages: string[];
  bootstrapFiles: BootstrapFile[];
}

const MAX_MESSAGES = 10;
const MAX_MESSAGE_CHARACTERS = 4_000;
const MAX_FILES = 20;
const MAX_FILE_CHARACTERS = 100_000;
const MAX_ALL_CHARACTERS = 200_000;

/** A text says what is wrong. */
export function checkAdditions(messages: unknown, bootstrapFiles: unknown): Additions | string {
  if (!isTexts(messages)) return "`messages` must be a list of texts";
  if (!Array.isArray(bootstrapFiles)) return "`bootstrapFiles` must be a list of {name, content}";
  if (messages.length > MAX_MESSAGES) return `it added more than ${MAX_MESSAGES} messages`;
  if (messages.some((message) => message.length > MAX_MESSAGE_CHARACTERS)) {
    return `it added a message of more than ${MAX_MESSAGE_CHARACTERS} characters`;
  }
  if (bootstrapFiles.length > MAX_FILES) return `it added more than ${MAX_FILES} bootstrap files`;
  const files = bootstrapFiles.map(bootstrapFile).filter((file) => file !== undefined);
  if (files.length < bootstrapFiles.length) return "each of `bootstrapFiles` must be {name, content}, both texts";
  if (files.some(({ content }) => content.length > MAX_FILE_CHARACTERS)) {
    return `it added a bootstrap file of more than ${MAX_FILE_CHARACTERS} characters`;
  }
  const all = files.reduce((sum, { content }) => sum + content.length, 0);
  if (all > MAX_ALL_CHARACTERS) return `it added more than ${MAX_ALL_CHARACTERS} characters of bootstrap files`;
  return { messages: messages.filter((message) => message.trim() !== ""), bootstrapFiles: files };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function bootstrapFile(value: unknown): BootstrapFile | undefined {
  if (!isRecord(value) || typeof value["name"] !== "string" || typeof value["content"] !== "string") return undefined;
  const name = printableLine(value["name"], 100);
  return name === "" ? undefined : { name, content: value["content"] };
}
