/** What a line of the model says about its usage; the same for everybody who counts. */
import { NAME_LENGTH, bounded } from "./bounded-text.ts";
import type { USAGE_MEMBERS } from "./line-types.ts";
import type { ObjectSkimmer } from "./object-skimmer.ts";
import type { MessageUsage } from "./usage.ts";

/** What Claude Code writes in the model's place when it answers itself. */
export const SYNTHETIC_MODEL = "<synthetic>";

/** Of the line that was skimmed last. Undefined when nothing of it counts. */
export function readUsage(
  line: ObjectSkimmer<(typeof USAGE_MEMBERS)[number]>,
  at: number | undefined,
): { messageId: string; usage: MessageUsage } | undefined {
  const member = line.slots;
  const model = line.text(member["message.model"]);
  if (model === SYNTHETIC_MODEL || !line.has(member["message.usage"])) return undefined;
  const messageId = bounded(line.text(member["message.id"]) ?? line.text(member.uuid), NAME_LENGTH);
  if (messageId === undefined) return undefined;
  const cacheWrite = line.count(member["message.usage.cache_creation_input_tokens"]);
  const hour = line.count(member["message.usage.cache_creation.ephemeral_1h_input_tokens"]);
  const usage: MessageUsage = {
    input: line.count(member["message.usage.input_tokens"]),
    output: line.count(member["message.usage.output_tokens"]),
    cacheRead: line.count(member["message.usage.cache_read_input_tokens"]),
    cacheWrite,
    cacheWriteHour: Math.min(cacheWrite, hour),
  };
  if (model !== undefined) usage.model = model;
  if (at !== undefined) usage.at = at;
  return { messageId, usage };
}
