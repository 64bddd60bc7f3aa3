/**
 * The method table: for each method what it is for, who may call it, what it takes and what it answers.
 * `method-table.ts` joins the handlers to it; the typed client and docs/rpc.md come from it. Loading it
 * loads zod, which takes 20 MB: the gateway does so with the first request, clients import types only.
 */
import type { z } from "zod";
import { agentMethods } from "./contract/agent.ts";
import { ccMethods } from "./contract/cc.ts";
import { chatMethods } from "./contract/chat.ts";
import { eventMethods } from "./contract/events.ts";
import { handoffMethods } from "./contract/handoff.ts";
import { messageMethods } from "./contract/message.ts";
import { sessionMethods } from "./contract/sessions.ts";
import { statusMethods } from "./contract/status.ts";

export const METHODS = {
  ...sessionMethods,
  ...chatMethods,
  ...agentMethods,
  ...statusMethods,
  ...messageMethods,
  ...handoffMethods,
  ...ccMethods,
  ...eventMethods,
} as const;

export type MethodName = keyof typeof METHODS;
/** As a client writes them: what has a default may be left out. */
export type ParamsOf<Name extends MethodName> = z.input<(typeof METHODS)[Name]["params"]>;
/** As a handler gets them. */
export type CheckedParamsOf<Name extends MethodName> = z.output<(typeof METHODS)[Name]["params"]>;
export type ResultOf<Name extends MethodName> = z.output<(typeof METHODS)[Name]["result"]>;
