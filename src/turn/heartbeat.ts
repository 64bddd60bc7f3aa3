/**
 * Heartbeats: turns that the clock starts, so that an agent can look after things without being asked. Each is admitted
 * like a message whose address is its time slot, so restarts, bursts and several processes give each slot one turn.
 * A missed slot is skipped. A heartbeat waits for no one: it is skipped too while its session is busy.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { localTime, type Clock } from "../base/clock.ts";
import { systemErrorCode } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { HeartbeatConfig, HoldfastConfig } from "../config/config.ts";
import type { MessageContext } from "../keys/message-context.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { AgentParts, AgentPool, Pipeline } from "./pipeline.ts";

export interface HeartbeatOptions {
  config: HoldfastConfig;
  agents: AgentPool;
  pipeline: Pipeline;
  clock: Clock;
  logger: Logger;
}

const CHANNEL = "heartbeat";
const FILE = "HEARTBEAT.md";
const PROMPT = `Read ${FILE} of your workspace and do what is due now. If nothing needs attention, answer HEARTBEAT_OK.`;

export function startHeartbeats(options: HeartbeatOptions): { stop(): void } {
  const { config, clock, logger } = options;
  const timers = Object.entries(config.agents).flatMap(([agentId, { heartbeat }]) => {
    if (heartbeat === undefined) return [];
    const everyMs = toMs(heartbeat.every);
    let last = slotAt(clock.now(), everyMs);
    const look = (): void => {
      const slot = slotAt(clock.now(), everyMs);
      if (slot === last) return;
      last = slot;
      beat(agentId, heartbeat, slot, options).catch((error: unknown) => {
        logger.warn("A heartbeat was skipped", { agentId, error });
      });
    };
    return [setInterval(look, Math.min(LOOK_MS, everyMs / 4)).unref()];
  });
  return { stop: () => timers.forEach((timer) => clearInterval(timer)) };
}

const LOOK_MS = 15_000;

function slotAt(now: number, everyMs: number): number {
  return Math.floor(now / everyMs);
}

async function beat(agentId: string, heartbeat: HeartbeatConfig, slot: number, options: HeartbeatOptions) {
  const { agents, pipeline, clock } = options;
  const now = clock.now();
  if (!isActive(heartbeat, now)) return;
  const parts = await agents.open(agentId);
  const { agent } = parts;
  const sessionKey = buildAgentMainSessionKey(agent);
  if (heartbeat.prompt === undefined && (await hasNothingToDo(parts))) return;
  if ((await agent.store.inbox.pending(sessionKey)).length > 0) return;
  await pipeline.admit({
    agentId,
    address: { channel: CHANNEL, accountId: agentId, chatId: sessionKey, messageId: `${heartbeat.every}:${slot}` },
    ctx: {
      IsHeartbeat: true,
      SessionKey: sessionKey,
      Body: heartbeat.prompt ?? PROMPT,
      Timestamp: now,
      ...chatOf(heartbeat),
    },
    receivedAt: now,
    deliver: heartbeat.target !== "none",
  });
}

/** A named chat. Heartbeats do not change the last chat of a session. */
function chatOf({ target = "" }: HeartbeatConfig): Pick<MessageContext, "OriginatingChannel" | "OriginatingTo"> {
  const [, channel, to] = /^([^:]+):(.+)$/.exec(target) ?? [];
  return channel === undefined ? {} : { OriginatingChannel: channel, OriginatingTo: to };
}

/** Without a file, or with headings and comments only, a turn would cost money for nothing. */
async function hasNothingToDo({ agent }: AgentParts): Promise<boolean> {
  try {
    const text = await readFile(join(agent.workspace, FILE), "utf8");
    return text.split("\n").every((line) => /^\s*(?:#.*|<!--.*-->)?\s*$/.test(line));
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return true;
    throw error;
  }
}

/** `activeHours` may span midnight: 22:00 to 06:00. */
function isActive({ activeHours }: HeartbeatConfig, now: number): boolean {
  if (activeHours === undefined) return true;
  const { start, end } = activeHours;
  const time = localTime(now).slice(11, 16);
  return start <= end ? time >= start && time < end : time >= start || time < end;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

function toMs(every: string): number {
  return Number.parseInt(every, 10) * (UNITS[every.slice(-1)] ?? 0);
}
