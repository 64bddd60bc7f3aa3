/** Tasks for Claude Code. They belong to one session of one agent. Changes emit `task.changed`. */
import { HoldfastError } from "../../base/errors.ts";
import type { AgentTasks } from "../../turn/pipeline.ts";
import type { taskMethods } from "../contract/tasks.ts";
import type { HandlersOf } from "../rpc-parts.ts";
import { openTarget } from "./target.ts";

export const taskHandlers: HandlersOf<keyof typeof taskMethods> = {
  "tasks.list": async ({ sessionKey, agentId, limit }, { parts }) => {
    const { tasks, key } = await openTarget(parts, { key: sessionKey, agentId });
    const found = tasks === undefined || !(await tasks.hasAny()) ? [] : await (await tasks.open()).list(key);
    return {
      tasks: found.slice(0, limit).map((task) => {
        const { state, text, repoPath, label, question, outcome, costUsd, startedAt, endedAt } = task.state;
        const { id, line } = task;
        const progress = { line, question, outcome, costUsd, startedAt, endedAt };
        return { id, key: task.key, state, text, repoPath, label, ...progress };
      }),
    };
  },

  "sessions.tool": async ({ sessionKey, agentId, tool, input, idempotencyKey }, { parts, signal }) => {
    const { sessionTools, key } = await openTarget(parts, { key: sessionKey, agentId });
    const tools = new Map((await sessionTools?.())?.map((one) => [one.name, one]));
    const { createAttachedFiles } = await import("../../engine/tools/confined-files.ts");
    const { runTool } = await import("../../engine/tools/agent-tool.ts");
    const use = { sessionKey: key, callId: `rpc:${idempotencyKey}`, signal, attached: createAttachedFiles([]) };
    return await runTool(tools, { name: tool, input }, { ...use, logger: parts.logger });
  },

  "tasks.start": async ({ sessionKey, agentId, task, idempotencyKey, ...request }, { parts }) => {
    const { tasks, key } = await openTarget(parts, { key: sessionKey, agentId });
    const { spawn } = requireTasks(tasks);
    const started = await spawn({ ...request, conversation: key, origin: `rpc:${idempotencyKey}`, text: task });
    return { status: "accepted", runId: started.id, decision: started.decision, project: started.status };
  },
};

function requireTasks(tasks: AgentTasks | undefined): AgentTasks {
  if (tasks !== undefined) return tasks;
  throw new HoldfastError("unsupported", "tasks-off", "This agent cannot give tasks to Claude Code.", {
    hint: "Use an agent of the gateway.",
  });
}
