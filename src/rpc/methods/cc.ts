/** Calls the functions for Claude Code. */
import { normalizeAgentId } from "../../keys/names.ts";
import type { ccMethods } from "../contract/cc.ts";
import type { AsJson } from "../contract/shapes.ts";
import type { ClaudeParts, RpcParts, HandlersOf } from "../rpc-parts.ts";

export const ccHandlers: HandlersOf<keyof typeof ccMethods> = {
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

  "cc.select": async ({ agentId, repoPath, task, from }, { parts }) => {
    const claude = claudeOf(parts, agentId);
    const { selection } = await claude.select(task, repoPath, { candidates: candidatesFor(from, claude) });
    return { selection: asJson(selection) };
  },

  "cc.live": async ({ agentId }, { parts }) => {
    const runner = await claudeOf(parts, agentId).runner();
    return { live: await runner.getAllLiveSessions() };
  },

  "cc.run": async ({ agentId, timeoutSeconds, from, ...task }, { parts, signal }) => {
    const claude = claudeOf(parts, agentId);
    const runner = await claude.runner();
    const result = await runner.spawnClaudeCode({
      ...task,
      candidates: candidatesFor(from, claude),
      agentId: agentOf(parts, agentId),
      timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000,
      // A caller that disconnects no longer wants the cost and the changes.
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

/** The callers are people, who usually mean every session of the repo. */
function candidatesFor(from: "own" | "all" | undefined, { config }: ClaudeParts): "own" | "all" {
  return from ?? config.sessionSelection.candidates ?? "all";
}

function asJson<T>(value: T): AsJson<T> {
  return JSON.parse(JSON.stringify(value)) as AsJson<T>;
}
