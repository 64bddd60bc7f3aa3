/** Claude Code's side, passed on. */
import { normalizeAgentId } from "../../keys/names.ts";
import type { AsJson } from "../contract/shapes.ts";
import type { HandlersOf } from "../handler.ts";
import type { ClaudeParts, RpcParts } from "../rpc-parts.ts";

type CcMethod = "cc.list" | "cc.info" | "cc.status" | "cc.select" | "cc.live" | "cc.run" | "cc.kill";

export const ccHandlers: HandlersOf<CcMethod> = {
  "cc.list": async ({ agentId, repoPath, limit }, { parts }) => {
    const { sessions } = await claudeOf(parts, agentId).discover(repoPath, { limit });
    return { count: sessions.length, sessions: asJson(sessions) };
  },

  "cc.info": async ({ agentId, sessionId }, { parts }) => ({
    session: asJson(await claudeOf(parts, agentId).find(sessionId)),
  }),

  "cc.status": async ({ agentId, repoPath }, { parts }) => ({
    status: asJson(await claudeOf(parts, agentId).status(repoPath)),
  }),

  "cc.select": async ({ agentId, repoPath, task }, { parts }) => ({
    selection: asJson((await claudeOf(parts, agentId).select(task, repoPath)).selection),
  }),

  "cc.live": async ({ agentId }, { parts }) => {
    const runner = await claudeOf(parts, agentId).runner();
    return { live: await runner.getAllLiveSessions() };
  },

  "cc.run": async ({ agentId, timeoutSeconds, ...task }, { parts, signal }) => {
    const runner = await claudeOf(parts, agentId).runner();
    const result = await runner.spawnClaudeCode({
      ...task,
      agentId: agentOf(parts, agentId),
      ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
      // Whoever asked has gone: what it would have cost and changed, nobody wants any more.
      signal,
    });
    return { result: asJson(result) };
  },

  "cc.kill": async ({ agentId, target, force }, { parts }) => {
    const runner = await claudeOf(parts, agentId).runner();
    return { killed: await runner.killClaudeCode(target, { force }) };
  },
};

function claudeOf(parts: RpcParts, agentId: string | undefined): ClaudeParts {
  return parts.claude(agentOf(parts, agentId));
}

function agentOf({ config }: RpcParts, agentId: string | undefined): string {
  return normalizeAgentId(agentId ?? config.defaultAgent);
}

/** What the result looks like once it has travelled. */
function asJson<T>(value: T): AsJson<T> {
  return JSON.parse(JSON.stringify(value)) as AsJson<T>;
}
