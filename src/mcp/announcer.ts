/**
 * What a task wants a person to know, kept in the agent's outbox: once a call is answered, neither a
 * crash nor a gateway that does not run loses it. Where the linked conversation says where its person is
 * reached, it goes there. Otherwise it is addressed to the command line of whoever owns the machine, and
 * `holdfast mcp --announcements` shows it.
 */
import { HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { printable } from "../base/printable.ts";
import { normalizeAccountId } from "../keys/names.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { resolveSendPolicy } from "../session/send-policy.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { DeliveryTarget, OutboxItem } from "../store/store.ts";
import type { McpParts } from "./bridge-parts.ts";
import { findConversation } from "./linked-conversation.ts";

/** The payload in the outbox. */
export interface AnnouncementPayload {
  type: "announcement";
  text: string;
  priority: AnnouncementPriority;
  agentId: string;
  repoPath: string;
  claudeSessionId?: string;
}

export const PRIORITIES = ["low", "normal", "high"] as const;
export type AnnouncementPriority = (typeof PRIORITIES)[number];

export interface Announcer {
  keep(text: string, priority: AnnouncementPriority): Promise<{ item: OutboxItem; target: DeliveryTarget }>;
}

const PER_MINUTE = 20;
const MINUTE_MS = 60_000;
/** The person at the keyboard, as `holdfast chat` names them. */
const COMMAND_LINE: DeliveryTarget = { channel: "cli", accountId: "default", to: "cli" };

export function createAnnouncer(parts: McpParts): Announcer {
  /** When the last ones were accepted. */
  let times: number[] = [];
  const admit = (): void => {
    const now = parts.clock.now();
    // A time in the future was noted before the clock was turned back.
    times = times.filter((at) => at > now - MINUTE_MS && at <= now);
    const [oldest] = times;
    if (times.length >= PER_MINUTE && oldest !== undefined) throw tooMany(oldest + MINUTE_MS - now);
    times.push(now);
  };

  return {
    keep: async (text, priority) => {
      const { agent, key, target } = await findRecipient(parts);
      admit();
      const { agentId, repoPath, claudeSessionId } = parts;
      const payload: AnnouncementPayload = {
        type: "announcement",
        text: printable(text.toWellFormed()),
        priority,
        agentId,
        repoPath,
        ...(claudeSessionId === undefined ? {} : { claudeSessionId }),
      };
      const idempotencyKey = `announcement:${parts.ids.uuid()}`;
      const [item] = await agent.store.outbox.enqueue(key, [{ idempotencyKey, target, payload }]);
      if (item === undefined) throw new Error("The outbox has taken nothing.");
      return { item, target };
    },
  };
}

interface Recipient {
  agent: AgentHandle;
  key: string;
  target: DeliveryTarget;
}

async function findRecipient(parts: McpParts): Promise<Recipient> {
  const link = await findConversation(parts);
  if (!link.linked) {
    const agent = await parts.openAgent({ create: true });
    if (agent === undefined) throw new Error("The agent's store was not made.");
    return { agent, key: buildAgentMainSessionKey(agent), target: COMMAND_LINE };
  }
  const { agent, key, entry } = link;
  if (resolveSendPolicy({ cfg: parts.config, entry, sessionKey: key }) === "deny") {
    throw new HoldfastError("forbidden", "send-denied", `Nothing may be sent to the conversation ${key}`, {
      hint: "Its send policy says so (`session.sendPolicy`, or /send in the chat). Put the message into your answer instead.",
    });
  }
  return { agent, key, target: targetOf(entry) ?? COMMAND_LINE };
}

/** Where replies go. What is missing is never taken from another chat. */
function targetOf(entry: SessionEntry): DeliveryTarget | undefined {
  const last = {
    channel: entry.lastChannel,
    to: entry.lastTo,
    accountId: entry.lastAccountId,
    threadId: entry.lastThreadId,
  };
  const { channel, to, accountId, threadId } = entry.deliveryContext?.to === undefined ? last : entry.deliveryContext;
  if (channel === undefined || channel === "" || to === undefined || to === "") return undefined;
  return {
    channel,
    to,
    accountId: normalizeAccountId(accountId),
    ...(entry.chatType === undefined ? {} : { chatType: entry.chatType }),
    ...(threadId === undefined ? {} : { threadId }),
  };
}

function tooMany(waitMs: number): HoldfastError {
  const seconds = Math.ceil(waitMs / 1000);
  return new HoldfastError("unavailable", "too-many-announcements", `${PER_MINUTE} announcements a minute are enough`, {
    hint: `This one was not kept. Wait ${seconds} s, and put what is left into one message.`,
    data: { waitMs },
  });
}

const LOOKED_AT = 1000;

/** Hands over what was announced to the command line, each once: what `show` has returned for is done. */
export async function showAnnouncements(
  agent: AgentHandle,
  show: (announcement: AnnouncementPayload, at: number) => void,
): Promise<number> {
  const { outbox } = agent.store;
  let shown = 0;
  for (const item of await outbox.due(agent.clock.now(), LOOKED_AT, COMMAND_LINE)) {
    const { payload, target } = item;
    if (target.channel !== COMMAND_LINE.channel || !isAnnouncement(payload)) continue;
    if (!(await outbox.startSending(item.id, item.attempts))) continue;
    show(payload, item.createdAt);
    await outbox.delivered(item.id);
    shown += 1;
  }
  return shown;
}

function isAnnouncement(payload: unknown): payload is AnnouncementPayload {
  return isRecord(payload) && payload["type"] === "announcement" && typeof payload["text"] === "string";
}
