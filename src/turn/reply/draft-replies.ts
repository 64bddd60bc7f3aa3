/**
 * From payloads to what waits in the outbox: one draft per message of the platform, in order, each with
 * a key that is the same whenever the same turn is drafted again. What cannot be attached is told to the
 * person in its place; an agent's mistake must not cost them the answer.
 */
import { basename } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { ChannelCapabilities, OutboundMedia, OutboundMessage } from "../../channels/channel.ts";
import type { DeliveryTarget, OutboxDraft } from "../../store/store.ts";
import { failureText } from "../run/failure-text.ts";
import { resolveMedia } from "./media-ref.ts";
import { type ReplyPayload, payloadMedia } from "./payload.ts";
import { splitReplyText } from "./split-text.ts";

/** What an outbox item of a turn carries. */
export type OutboxPayload = Omit<OutboundMessage, "target" | "idempotencyKey">;

export interface DraftRequest {
  payloads: readonly ReplyPayload[];
  turnId: string;
  target: DeliveryTarget;
  capabilities: ChannelCapabilities;
  /** The folder that attached files must lie in. */
  workspace: string;
}

export async function draftReplies(request: DraftRequest): Promise<OutboxDraft[]> {
  const messages: OutboxPayload[] = [];
  for (const payload of request.payloads) messages.push(...(await draftPayload(payload, request)));
  return messages.map((payload, at) => ({
    idempotencyKey: `${request.turnId}:${at}`,
    target: request.target,
    payload,
  }));
}

async function draftPayload(
  payload: ReplyPayload,
  { capabilities, workspace }: DraftRequest,
): Promise<OutboxPayload[]> {
  const { media, remarks } = await attach(payloadMedia(payload), capabilities, workspace);
  const limit = capabilities.textLimit === undefined ? {} : { limit: capabilities.textLimit };
  const texts = [payload.text ?? "", remarks.join("\n")].flatMap((text) => splitReplyText(text, limit));
  const messages: OutboxPayload[] = texts.map((text) => ({ text }));
  if (media.length > 0) {
    // Files follow the text that speaks of them.
    const last = messages.pop();
    messages.push({ ...last, media, ...(payload.audioAsVoice === true ? { asVoice: true } : {}) });
  }
  const [first, ...rest] = messages;
  if (first === undefined || payload.replyToId === undefined || !capabilities.replies) return messages;
  return [{ ...first, replyToId: payload.replyToId }, ...rest];
}

interface Attached {
  media: OutboundMedia[];
  /** What the person is told instead of getting a file. */
  remarks: string[];
}

async function attach(
  refs: readonly string[],
  { media: takesFiles }: ChannelCapabilities,
  workspace: string,
): Promise<Attached> {
  const attached: Attached = { media: [], remarks: [] };
  for (const ref of refs) {
    try {
      const found = await resolveMedia(workspace, ref);
      if (takesFiles) attached.media.push(found.kind === "url" ? found : { kind: "file", path: found.path });
      else attached.remarks.push(found.kind === "url" ? found.url : notTaken(found.path));
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      attached.remarks.push(failureText(new HoldfastError(error.kind, error.code, error.message)));
    }
  }
  return attached;
}

function notTaken(path: string): string {
  return `${basename(path)} is in the agent's workspace; this channel takes no files.`;
}
