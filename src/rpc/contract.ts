/**
 * The method table: summary, permission, parameters and result of each method. dispatch.ts adds the
 * handlers; the typed client and docs/rpc.md are derived from it. It loads zod (20 MB), so the gateway loads it
 * with the first request, and clients import types only.
 */
import type { z } from "zod";
import { ccMethods } from "./contract/cc.ts";
import { chatMethods } from "./contract/chat.ts";
import { handoffMethods } from "./contract/handoff.ts";
import { searchMethods, statusMethods } from "./contract/status.ts";
import { sessionMethods } from "./contract/sessions.ts";
import { taskMethods } from "./contract/tasks.ts";

export const METHODS = {
  ...sessionMethods,
  ...chatMethods,
  ...statusMethods,
  ...handoffMethods,
  ...ccMethods,
  ...taskMethods,
  ...searchMethods,
} as const;

export type MethodName = keyof typeof METHODS;
/** Parameters as a client sends them: those with a default are optional. */
export type ParamsOf<Name extends MethodName> = z.input<(typeof METHODS)[Name]["params"]>;
export type CheckedParamsOf<Name extends MethodName> = z.output<(typeof METHODS)[Name]["params"]>;
export type ResultOf<Name extends MethodName> = z.output<(typeof METHODS)[Name]["result"]>;
