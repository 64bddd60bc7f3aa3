/** The contract and the handlers, joined. The compiler sees to it that neither lacks a method. */
import { METHODS, type MethodName } from "./contract.ts";
import type { HandlersOf } from "./handler.ts";
import { agentHandlers } from "./methods/agent.ts";
import { ccHandlers } from "./methods/cc.ts";
import { chatHandlers } from "./methods/chat.ts";
import { eventHandlers } from "./methods/events.ts";
import { handoffHandlers } from "./methods/handoff.ts";
import { messageHandlers } from "./methods/message.ts";
import { sessionHandlers } from "./methods/sessions.ts";
import { statusHandlers } from "./methods/status.ts";

export const HANDLERS: HandlersOf<MethodName> = {
  ...sessionHandlers,
  ...chatHandlers,
  ...agentHandlers,
  ...statusHandlers,
  ...messageHandlers,
  ...handoffHandlers,
  ...ccHandlers,
  ...eventHandlers,
};

export const METHOD_NAMES = Object.keys(METHODS) as readonly MethodName[];

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name);
}
