/**
 * Puts announcements of a task into the agent's outbox, where they survive crashes and a stopped gateway. They go to
 * the linked conversation if its route is known, else to the command line, where `holdfast mcp --announcements`
 * shows them.
 */
import { HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { normalizeAccountId } from "../keys/names.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { resolveSendPolicy } from "../session/send-policy.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { McpParts } from "./bridge-parts.ts";
import { findConversation } from "./privacy.ts";
import { printable } from "../base/text.ts";
import type { DeliveryTarget } from "../store/queues.ts";

export interface AnnouncementPayload {
  type: "announcement";
  text: string;
  priority: AnnouncementPriority;
  agentId: string;
  repoPath: string;
  claudeSessionId?: string | undefined;
}

export const PRIORITIES = ["low", "normal", "high"] as const;
export type AnnouncementPriority = (typeof PRIORITIES)[number];

export type Announcer = ReturnType<typeof createAnnouncer>;

const PER_MINUTE = 20;
const MINUTE_MS = 60_000;
/** The person at the keyboard, as in `holdfast chat`. */
const COMMAND_LINE: DeliveryTarget = { channel: "cli", accountId: "default", to: "cli" };

export function createAnnouncer(parts: McpParts) {
  let times: number[] = [];
  const admit = (): void => {
    const now = parts.clock.now();
    // Drop times in the future: the clock was set back.
    times = times.filter((at) => at > now - MINUTE_MS && at <= now);
    const [oldest] = times;
    if (times.length >= PER_MINUTE && oldest !== undefined) throw tooMany(oldest + MINUTE_MS - now);
    times.push(now);
  };

  return {
    keep: async (text: string, priority: AnnouncementPriority) => {
      const { agent, key, target } = await findRecipient(parts);
      admit();
      const { agentId, repoPath, claudeSessionId } = parts;
      const payload: AnnouncementPayload = {
        type: "announcement",
        text: printable(text.toWellFormed()),
        priority,
        agentId,
        repoPath,
        claudeSessionId,
      };
      const idempotencyKey = `announcement:${parts.ids.uuid()}`;
      const [item] = await agent.store.outbox.enqueue(key, [{ idempotencyKey, target, payload }]);
      if (item === undefined) throw new Error("The outbox accepted nothing.");
      return { item, target };
    },
  };
}

async function findRecipient(parts: McpParts) {
  const link = await findConversation(parts);
  if (!link.linked) {
    const agent = await parts.openAgent({ create: true });
    if (agent === undefined) throw new Error("The agent's store was not created.");
    return { agent, key: buildAgentMainSessionKey(agent), target: COMMAND_LINE };
  }
  const { agent, key, entry } = link;
  if (resolveSendPolicy({ cfg: parts.config, entry, sessionKey: key }) === "deny") {
    throw new HoldfastError("forbidden", "send-denied", `The send policy forbids messages to ${key}`, {
      hint: "See `session.sendPolicy`, or /send in the chat. Put the message into your answer instead.",
    });
  }
  return { agent, key, target: targetOf(entry) ?? COMMAND_LINE };
}

/** The route for replies. Never combines members of two routes. */
function targetOf(entry: SessionEntry): DeliveryTarget | undefined {
  const last = {
    channel: entry.lastChannel,
    to: entry.lastTo,
    accountId: entry.lastAccountId,
    threadId: entry.lastThreadId,
  };
  const { channel, to, accountId, threadId } = entry.deliveryContext?.to === undefined ? last : entry.deliveryContext;
  if (channel === undefined || channel === "" || to === undefined || to === "") return undefined;
  return { channel, to, accountId: normalizeAccountId(accountId), chatType: entry.chatType, threadId };
}

function tooMany(waitMs: number): HoldfastError {
  const message = `The limit is ${PER_MINUTE} announcements per minute`;
  const hint = `This one was not sent. Wait ${Math.ceil(waitMs / 1000)} s, and combine the rest into one message.`;
  return new HoldfastError("unavailable", "too-many-announcements", message, { hint, data: { waitMs } });
}

const LOOKED_AT = 1000;

/** Passes each announcement for the command line to `show`, once. */
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
