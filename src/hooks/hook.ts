/**
 * The contract of hooks: folders with a `HOOK.md` and a handler, which are called when something happens.
 * A hook never holds up or fails what it is called for: it has a time limit, and what it throws is reported.
 */
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

/** Where a hook was found. Later ones go before earlier ones of the same name. */
export const HOOK_SOURCES = ["bundled", "home", "workspace"] as const;
export type HookSource = (typeof HOOK_SOURCES)[number];

export interface Hook {
  name: string;
  description: string;
  events: readonly HookEventName[];
  source: HookSource;
  folder: string;
  /** The module with the handler as its default export. Left out: it is part of Holdfast, or it is broken. */
  handlerFile?: string;
  /** Bundled hooks and those of the home folder: unless turned off. Those of a workspace: once turned on. */
  enabled: boolean;
  /** What it needs and does not have: programs, environment variables, settings. Empty: it can run. */
  missing: readonly string[];
  /** The environment variables that it asks for: it is given these, and no secrets besides. */
  variables: readonly string[];
  /** Only a hook that is `ready` is called. */
  state: HookState;
  /** Of one that is not ready: why, and what to do about it. */
  problem?: string;
  /** Of a hook that went wrong since the process started: how often, and why the last time. */
  failed?: { count: number; reason: string };
}

/**
 * - `off`: turned off, or of a workspace and never turned on.
 * - `changed`: of a workspace, and not what the person turned on.
 * - `overridden`: another one of the same name goes before it.
 */
export const HOOK_STATES = ["ready", "off", "changed", "missing", "broken", "overridden"] as const;
export type HookState = (typeof HOOK_STATES)[number];

/** What a handler is called with, in OpenClaw's form. It crosses to another process: values only. */
export interface HookEvent {
  /** The part of the event's name before the colon, and the one after it. */
  type: string;
  action: string;
  sessionKey: string;
  /** ISO 8601. */
  timestamp: string;
  context: HookContext;
  /** A handler may add texts for the person; they are shown where the event came from. */
  messages: string[];
}

export interface HookContext {
  agentId: string;
  workspaceDir: string;
  sessionId?: string;
  /** The window's transcript. */
  sessionFile?: string;
  /** Why a window ended or was compacted. */
  reason?: string;
  /** The channel that a command came from. */
  commandSource?: string;
  senderId?: string;
  /** Of `agent:bootstrap`: a handler may add to it. */
  bootstrapFiles?: BootstrapFile[];
}

export interface BootstrapFile {
  name: string;
  content: string;
}

/** Calls the hooks of one agent. */
export interface HookRunner {
  /** Whether any enabled hook listens: for whoever would have to prepare something. */
  listens(event: HookEventName): boolean;
  /** Resolves when all are done or given up, with what they added. Never rejects. */
  fire(event: HookEventName, request: HookRequest): Promise<HookOutcome>;
  /** All that were found, also those that cannot run. */
  list(): readonly Hook[];
  close(): Promise<void>;
}

export interface HookRequest {
  sessionKey: string;
  context: Omit<HookContext, "agentId" | "workspaceDir">;
}

export interface HookOutcome {
  messages: string[];
  /** Those that handlers added, in order. */
  bootstrapFiles: BootstrapFile[];
  failures: { hook: string; reason: string }[];
}

/** A hook that is part of Holdfast and runs in its process. */
export interface BundledHook {
  name: string;
  handle(event: HookEvent): Promise<void>;
}
