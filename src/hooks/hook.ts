/**
 * The contract of hooks: folders with a `HOOK.md` and a handler that runs on events. A hook never blocks or fails the
 * event: it has a time limit, and its errors are only reported.
 */
import type { SessionEntry } from "../store/session-entry.ts";

export const HOOK_EVENTS = [
  "command:new",
  "command:reset",
  "command:stop",
  "agent:bootstrap",
  "gateway:startup",
  "session:compact",
  "session:end",
] as const;

export type HookEventName = (typeof HOOK_EVENTS)[number];

/** Where a hook was found. Later places override earlier ones. */
export type HookSource = "bundled" | "home" | "workspace";

export interface Hook {
  name: string;
  description: string;
  events: readonly HookEventName[];
  source: HookSource;
  folder: string;
  /** The module with the handler as its default export. Undefined: bundled, or broken. */
  handlerFile?: string | undefined;
  /** Bundled and home hooks are on by default, workspace hooks off. */
  enabled: boolean;
  missing: readonly string[];
  /** The environment variables that it asks for. It gets these, and no other secrets. */
  variables: readonly string[];
  /** Only `ready` hooks run. */
  state: HookState;
  /** Why it is not ready, and what to do. */
  problem?: string | undefined;
}

/**
 * - `off`: disabled, or a workspace hook that was never enabled.
 * - `changed`: a workspace hook that changed after it was enabled.
 * - `overridden`: replaced by a hook of the same name.
 */
export type HookState = "ready" | "off" | "changed" | "missing" | "broken" | "overridden";

/** The argument of a handler, in OpenClaw's form. It is sent to another process, so it holds only data. */
export interface HookEvent {
  /** The event's name before and after the colon. */
  type: string;
  action: string;
  sessionKey: string;
  timestamp: string;
  context: HookContext;
  /** A handler may add messages for the person. They appear where the event came from. */
  messages: string[];
}

export interface HookContext {
  agentId: string;
  workspaceDir: string;
  sessionId?: string | undefined;
  sessionFile?: string | undefined;
  /** Why a window ended or was compacted. */
  reason?: string | undefined;
  /** The channel that a command came from. */
  commandSource?: string | undefined;
  senderId?: string | undefined;
  /** The session's entry, where it is known. Changes to it are ignored. */
  sessionEntry?: SessionEntry | undefined;
  /** For `agent:bootstrap`: the configuration without secrets. Changes to it are ignored. */
  cfg?: unknown;
  /** For `agent:bootstrap`: what the agent will read. A handler may change, replace, remove and add files. */
  bootstrapFiles?: BootstrapFile[] | undefined;
}

export interface BootstrapFile {
  name: string;
  content: string;
}

export interface HookRunner {
  /** True if an enabled hook listens, for callers that must prepare data. */
  listens(event: HookEventName): boolean;
  /** Resolves with all results when every hook is done or timed out. Never rejects. */
  fire(event: HookEventName, request: HookRequest): Promise<HookOutcome>;
  list(): readonly Hook[];
  close(): Promise<void>;
}

export interface HookRequest {
  sessionKey: string;
  context: Omit<HookContext, "agentId" | "workspaceDir" | "cfg">;
}

export interface HookOutcome {
  messages: string[];
  /** For `agent:bootstrap`: the files after all hooks. Else empty. */
  bootstrapFiles: BootstrapFile[];
  failures: { hook: string; reason: string }[];
}

/** A hook that is part of Holdfast and runs in this process. */
export interface BundledHook {
  name: string;
  handle(event: HookEvent): Promise<void>;
}

/** The request on stdin. The answer is a line on stdout that starts with the mark. */
export interface ProgramRequest {
  handler: string;
  event?: HookEvent | undefined;
  mark: string;
}

/** Must be validated: the hook itself can write such a line. */
export type ProgramAnswer = { result: { messages: unknown; bootstrapFiles: unknown } } | { failed: string };

/** Limit for everything a hook prints, including the answer. */
export const MAX_PRINTED_CHARACTERS = 1024 * 1024;
