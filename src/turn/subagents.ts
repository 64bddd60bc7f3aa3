/**
 * Subagents: sessions that a session starts to work for it, `agent:<id>:subagent:<key>`, with `spawnedBy`. Starting one
 * is admitting its first message, so a repeated call finds the same subagent, and a restart loses none.
 *
 * The entry of a subagent says whether a result is due (`reportDue`). When its turn has ended, the result goes to its
 * parent as a message, once: its address is the end of the transcript. What a dead process left is reported at start.
 */
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { printableLine } from "../base/text.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { SubagentRequest } from "../engine/tools/session-tools.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { isSubagentSessionKey } from "../keys/session-key.ts";
import { type AgentHandle, transcriptPath } from "../session/agent-handle.ts";
import { chooseModel } from "../session/model-choice.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { taskIdOf } from "../tasks/task.ts";
import { contentText } from "../transcript/messages.ts";
import { walkPath } from "../transcript/walk.ts";
import type { AgentPool, Pipeline } from "./pipeline.ts";
import { isSilentReplyText } from "./reply/tokens.ts";

export interface SpawnOptions {
  agent: AgentHandle;
  config: HoldfastConfig;
  admit: Pipeline["admit"];
}

const CHANNEL = "subagent";
const ID_LENGTH = 8;
const MAX_TITLE = 80;

export async function spawnSubagent(options: SpawnOptions, requester: string, request: SubagentRequest) {
  const { agent, config, admit } = options;
  const { task, label, callId } = request;
  const { agentId, clock } = agent;
  const key = `agent:${agentId}:subagent:${taskIdOf(`${requester}\n${callId}`, ID_LENGTH)}`;
  const isRepeated = (await agent.store.get(key)) !== undefined;
  if (!isRepeated) await requireRoom(options, requester);
  const model = chosenModel(request.model, agentId, config);
  const Body = `${INTRODUCTION}\n\n${task}`;
  const { item } = await admit({
    agentId,
    address: { channel: CHANNEL, accountId: agentId, chatId: key, messageId: "task" },
    ctx: {
      SessionKey: key,
      Body,
      RawBody: task,
      BodyForCommands: Body,
      Spawn: { by: requester, title: printableLine(label ?? task, MAX_TITLE), model },
      ReportDue: true,
      Timestamp: clock.now(),
    },
    receivedAt: clock.now(),
    deliver: false,
  });
  return { status: "accepted", runId: String(item.id), sessionKey: key };
}

const INTRODUCTION =
  "You are a subagent: another session of yours gave you the task below. Your final answer is the result that it gets; " +
  "nobody can answer questions, so decide what is open and say how. Answer NO_REPLY only if no result is wanted.";

async function requireRoom({ agent, config }: SpawnOptions, requester: string): Promise<void> {
  const { maxDepth, maxActive } = config.turns.subagents;
  if ((await depthOf(agent, requester)) >= maxDepth) {
    throw new HoldfastError(
      "usage",
      "subagent-depth",
      `Subagents may be ${maxDepth} deep, and this one would be deeper`,
      {
        hint: "Do the work in this session. The limit is turns.subagents.maxDepth.",
        data: { maxDepth },
      },
    );
  }
  const pending = (await agent.store.inbox.pending()).filter(({ key }) => isSubagentSessionKey(key));
  if (new Set(pending.map(({ key }) => key)).size < maxActive) return;
  throw new HoldfastError("unavailable", "subagents-busy", `${maxActive} subagents are working already`, {
    hint: "Wait until one reports its result. The limit is turns.subagents.maxActive.",
    data: { maxActive },
  });
}

async function depthOf(agent: AgentHandle, key: string, depth = 0): Promise<number> {
  // Loops do not exist in our own lineages, but entries may come from elsewhere.
  if (!isSubagentSessionKey(key) || depth > MAX_DEPTH) return depth;
  const { spawnedBy = "" } = (await agent.store.get(key)) ?? {};
  return await depthOf(agent, canonicalSessionKey(spawnedBy, agent), depth + 1);
}

const MAX_DEPTH = 32;

function chosenModel(wanted: string | undefined, agentId: string, { models, providers, agents }: HoldfastConfig) {
  if (wanted === undefined) return undefined;
  const { provider, model, isDefault } = chooseModel(wanted, {
    models,
    providers,
    defaultModel: agents[agentId]?.model,
  });
  return isDefault ? undefined : { provider, model };
}

export interface ReportOptions {
  agents: AgentPool;
  pipeline: Pipeline;
  clock: Clock;
  logger: Logger;
}

/** Older results are not reported after a restart. */
const RECENT_MS = 24 * 60 * 60 * 1000;

/** Reports results when turns end, and first those that an earlier process left. */
export function startSubagentReports(options: ReportOptions): { stop(): void } {
  const { agents, pipeline, clock, logger } = options;
  const reportSafely = (agent: AgentHandle, key: string): void => {
    reportResult(agent, key, pipeline).catch((error: unknown) => {
      logger.warn("A subagent's result was not reported; trying again after a restart", { key, error });
    });
  };
  const recover = async (agent: AgentHandle): Promise<void> => {
    const activeSince = clock.now() - RECENT_MS;
    const { sessions } = await agent.store.list({ text: "subagent:", activeSince, fields: ["reportDue"] });
    for (const { key, entry } of sessions) if (entry.reportDue === true) reportSafely(agent, key);
  };
  for (const { agent } of agents.opened()) {
    recover(agent).catch((error: unknown) => logger.warn("Could not look for results of subagents", { error }));
  }
  const stop = pipeline.events.subscribe((event) => {
    if (event.type !== "turn.ended" || !isSubagentSessionKey(event.sessionKey)) return;
    const parts = agents.opened().find(({ agent }) => agent.agentId === event.agentId);
    if (parts !== undefined) reportSafely(parts.agent, event.sessionKey);
  });
  return { stop };
}

async function reportResult(agent: AgentHandle, key: string, { admit }: Pick<Pipeline, "admit">): Promise<void> {
  const { store, agentId, clock } = agent;
  const entry = await store.get(key);
  if (entry?.reportDue !== true || entry.spawnedBy === undefined) return;
  // The end of the last one reports.
  if ((await store.inbox.pending(key)).length > 0) return;
  const parent = canonicalSessionKey(entry.spawnedBy, agent);
  const result = await resultOf(agent, entry);
  const isParentSubagent = isSubagentSessionKey(parent);
  if (!isSilentReplyText(result) && (await store.get(parent)) !== undefined) {
    const title = entry.displayName ?? key;
    const Body = `Your subagent "${title}" (${key}) has ended. Its result is below. ${isParentSubagent ? FOR_PARENT : FOR_PERSON}`;
    await admit({
      agentId,
      address: {
        channel: CHANNEL,
        accountId: agentId,
        chatId: parent,
        messageId: `${key}#${entry.transcriptEnd?.id ?? entry.sessionId}`,
      },
      ctx: {
        SessionKey: parent,
        Body,
        BodyForCommands: Body,
        UntrustedContext: [result],
        ReportDue: isParentSubagent ? true : undefined,
        Timestamp: clock.now(),
      },
      receivedAt: clock.now(),
      deliver: !isParentSubagent,
    });
  }
  await store.update(key, (current) => {
    if (current?.transcriptEnd?.id !== entry.transcriptEnd?.id) return undefined;
    const { reportDue: _done, ...rest } = current ?? entry;
    return rest;
  });
}

const FOR_PERSON = "Tell the person what matters in it, or answer NO_REPLY.";
const FOR_PARENT = "Use it for your own result.";
const MAX_RESULT = 20_000;

/** The last answer in the transcript, or why there is none. */
async function resultOf(agent: AgentHandle, entry: SessionEntry): Promise<string> {
  for await (const { entry: line } of walkPath(await transcriptPath(agent, entry), { onProblem: () => undefined })) {
    if (line.type !== "message") continue;
    const { message } = line;
    if (message.role === "user") break;
    if (message.role !== "assistant") continue;
    const text = contentText(message.content).trim();
    const failure = message.stopReason === "error" ? [`It failed: ${message.errorMessage ?? "unknown reason"}`] : [];
    const said = [...(text === "" ? [] : [text]), ...failure].join("\n");
    if (said !== "") return said.slice(0, MAX_RESULT).toWellFormed();
  }
  return "It ended without a text.";
}
