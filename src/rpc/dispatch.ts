/**
 * Calls the handler of a method. A handler only gets parameters that match the method table.
 */
import type { z } from "zod";
import { HoldfastError } from "../base/errors.ts";
import { plainWords } from "../base/issue-words.ts";
import { METHODS, type MethodName } from "./contract.ts";
import { agentHandlers } from "./methods/agent.ts";
import { ccHandlers } from "./methods/cc.ts";
import { chatHandlers } from "./methods/chat.ts";
import { handoffHandlers } from "./methods/handoff.ts";
import { messageHandlers } from "./methods/message.ts";
import { searchHandlers, statusHandlers } from "./methods/status.ts";
import { sessionHandlers } from "./methods/sessions.ts";
import { taskHandlers } from "./methods/tasks.ts";
import { PERMISSIONS, type Permission } from "./protocol.ts";
import type { Handler, RpcCall, HandlersOf } from "./rpc-parts.ts";
import { printableLine, closestMatch } from "../base/text.ts";

export type Caller = Omit<RpcCall, "parts">;

export type Dispatcher = ReturnType<typeof createDispatcher>;

export function createDispatcher(parts: RpcCall["parts"]) {
  return {
    methods: METHOD_NAMES,
    call: async (method: string, params: unknown, caller: Caller): Promise<unknown> => {
      if (!isMethodName(method)) throw unknownMethod(method);
      requirePermission(method, caller.permission);
      const checked = checkParams(method, params ?? {});
      // Types cannot express that the handler and the parameters belong to the same method.
      const handle = HANDLERS[method] as Handler<MethodName>;
      return await handle(checked as never, { parts, ...caller });
    },
  };
}

/** The compiler checks that no method lacks a handler. */
export const HANDLERS: HandlersOf<MethodName> = {
  ...sessionHandlers,
  ...chatHandlers,
  ...agentHandlers,
  ...statusHandlers,
  ...messageHandlers,
  ...handoffHandlers,
  ...ccHandlers,
  ...taskHandlers,
  ...searchHandlers,
};

const METHOD_NAMES = Object.keys(METHODS) as readonly MethodName[];

function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name);
}

function requirePermission(method: MethodName, granted: Permission): void {
  const needed = METHODS[method].permission;
  if (PERMISSIONS.indexOf(granted) >= PERMISSIONS.indexOf(needed)) return;
  throw new HoldfastError("forbidden", "permission-missing", `${method} needs the permission ${needed}`, {
    hint: `This connection only has ${granted}: connect again with permission ${needed}.`,
    data: { method, needed, granted },
  });
}

function checkParams(method: MethodName, params: unknown): unknown {
  const { params: schema } = METHODS[method];
  const parsed = schema.safeParse(params, { error: plainWords });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, MAX_PROBLEMS).map((issue) => describeIssue(issue));
  throw new HoldfastError("usage", "invalid-params", `invalid ${method} params: ${problems.join("; ")}`, {
    hint: suggestParam(parsed.error.issues, Object.keys(schema.shape)),
    data: { method },
  });
}

const MAX_PROBLEMS = 5;
const MAX_NAME = 80;

/** Never quotes a value, which may be a misplaced secret. */
function describeIssue(issue: z.core.$ZodIssue): string {
  const place = issue.path.map((step) => printableLine(String(step), MAX_NAME)).join("/");
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.slice(0, MAX_PROBLEMS).map((key) => `"${printableLine(key, MAX_NAME)}"`);
    return `at /${place}: unknown ${names.join(", ")}`;
  }
  return `at /${place}: ${issue.message}`;
}

function suggestParam(issues: readonly z.core.$ZodIssue[], known: readonly string[]): string {
  const unknown = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : [],
  );
  const suggestion = unknown[0] === undefined ? undefined : closestMatch(unknown[0].slice(0, MAX_NAME), known);
  if (suggestion !== undefined) return `Did you mean "${suggestion}"?`;
  return known.length === 0 ? "This method takes no parameters." : `It takes: ${known.join(", ")}.`;
}

function unknownMethod(method: string): HoldfastError {
  const name = printableLine(method, MAX_NAME);
  const suggestion = closestMatch(name, METHOD_NAMES);
  return new HoldfastError("not-found", "unknown-method", `Unknown method: ${name}`, {
    hint: suggestion === undefined ? `Known methods: ${METHOD_NAMES.join(", ")}.` : `Did you mean ${suggestion}?`,
    data: { method: name },
  });
}
