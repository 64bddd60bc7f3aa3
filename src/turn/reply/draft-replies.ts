/**
 * Turns payloads into outbox drafts: one per message of the platform, in order. A repeated turn gives its drafts the
 * same keys. An attachment that cannot be sent is replaced by a remark, so that the person still gets the rest of the
 * answer.
 *
 * An agent may attach http(s) URLs and files in its own workspace. The name comes from a model, which may have been
 * tricked by a stranger's text, so a path is checked twice: by its form when the answer is read, and by the real path
 * here.
 */
import { realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import type { ChannelCapabilities, OutboundMedia, OutboundMessage } from "../../channels/channel.ts";
import { type MessageContext, normalizeChatType } from "../../keys/message-context.ts";
import type { Media } from "../../store/media.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { isWebUrl, isWorkspacePath } from "./directives.ts";
import { type ReplyPayload, payloadMedia } from "./payloads.ts";
import { splitReplyText } from "./split-text.ts";
import { failureText } from "../turn-errors.ts";
import { printableLine } from "../../base/text.ts";
import { isInside } from "../../base/files.ts";
import { inboundRoutePatch } from "../../session/entry.ts";
import type { DeliveryTarget, OutboxDraft } from "../../store/queues.ts";

export type OutboxPayload = Omit<OutboundMessage, "target" | "idempotencyKey">;

export interface DraftRequest {
  payloads: readonly ReplyPayload[];
  turnId: string;
  target: DeliveryTarget;
  capabilities: ChannelCapabilities;
  /** The folder that attached files must be in. */
  workspace: string;
  /** Keeps attached files until they are sent. Default: they stay where they are. */
  media?: Pick<Media, "keep"> | undefined;
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

async function draftPayload(payload: ReplyPayload, request: DraftRequest) {
  const { capabilities } = request;
  const { media, remarks } = await attach(payloadMedia(payload), request);
  const texts = [payload.text ?? "", remarks.join("\n")];
  const pieces = texts.flatMap((text) => splitReplyText(text, capabilities.textLimit));
  const messages: OutboxPayload[] = pieces.map((text) => ({ text }));
  if (media.length > 0) {
    // Files are sent with the last part of the text.
    const last = messages.pop();
    messages.push({ ...last, media, asVoice: payload.audioAsVoice === true ? true : undefined });
  }
  const [first, ...rest] = messages;
  if (first === undefined || payload.replyToId === undefined || !capabilities.replies) return messages;
  return [{ ...first, replyToId: payload.replyToId }, ...rest];
}

async function attach(refs: readonly string[], { capabilities, workspace, media: store }: DraftRequest) {
  const media: OutboundMedia[] = [];
  const remarks: string[] = [];
  for (const ref of refs) {
    try {
      const found = await resolveMedia(workspace, ref);
      if (capabilities.media)
        media.push(found.kind === "url" ? found : { ...found, path: (await store?.keep(found.path)) ?? found.path });
      else if (found.kind === "url") remarks.push(found.url);
      else remarks.push(`${basename(found.path)} is in the agent's workspace; this channel cannot send files.`);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      remarks.push(failureText(new HoldfastError(error.kind, error.code, error.message)));
    }
  }
  return { media, remarks };
}

/** Where the answer to a message goes: from the message, completed by the entry. Undefined: no recipient. */
export function replyTarget(ctx: MessageContext, entry: SessionEntry | undefined): DeliveryTarget | undefined {
  const route = inboundRoutePatch(ctx, entry).deliveryContext;
  if (route?.channel === undefined || route.to === undefined) return undefined;
  const { channel, to, accountId = "default", threadId } = route;
  return { channel, accountId, to, chatType: normalizeChatType(ctx.ChatType) ?? entry?.chatType, threadId };
}

/** Throws `media-refused` (forbidden) or `media-missing` (not-found). Downloads nothing, and resolves links. */
export async function resolveMedia(workspace: string, ref: string): Promise<OutboundMedia> {
  const wanted = ref.trim();
  if (isWebUrl(wanted)) return { kind: "url", url: new URL(wanted).href };
  if (!isWorkspacePath(wanted)) throw refused(ref, "it is neither an http(s) URL nor a path inside the workspace");

  const root = await realpath(workspace).catch((error: unknown) => {
    throw fileError(error, "open workspace", workspace);
  });
  const named = join(root, wanted);
  try {
    const path = await realpath(named);
    // Compared with the real root, against symlinks and folders with similar names.
    if (path === root || !isInside(root, path)) throw refused(ref, "a link points outside the workspace");
    if (!(await stat(path)).isFile()) throw refused(ref, "it is not a regular file");
    return { kind: "file", path };
  } catch (error) {
    throw unreadable(error, named, ref);
  }
}

function unreadable(error: unknown, path: string, ref: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (!["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(systemErrorCode(error) ?? "")) {
    return fileError(error, "look at", path);
  }
  const shown = printableLine(ref, 120);
  return new HoldfastError("not-found", "media-missing", `There is no file "${shown}" in the agent's workspace.`, {
    hint: "The agent has to write the file before it attaches it.",
    data: { ref: shown },
    cause: error,
  });
}

function refused(ref: string, reason: string): HoldfastError {
  const shown = printableLine(ref, 120);
  return new HoldfastError("forbidden", "media-refused", `"${shown}" is not attached: ${reason}.`, {
    hint: "Agents may attach http(s) URLs and files in their own workspace, by relative path.",
    data: { ref: shown },
  });
}
