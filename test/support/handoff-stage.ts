/** An agent with its hand-off, whose people talk in real transcripts: `await using stage = await handoffStage("sqlite")`. */
import { createLogger } from "../../src/base/log.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { type HandoffOptions, createHandoff } from "../../src/handoff/create-handoff.ts";
import type { Handoff, Offer } from "../../src/handoff/handoff.ts";
import { type AgentHandle, transcriptPath } from "../../src/session/agent-handle.ts";
import { openWindow, resetSession } from "../../src/session/window.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { StoreKind, WindowReason } from "../../src/store/store.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { type TestAgent, testAgent } from "./test-agent.ts";
import { assistantDraft, userDraft } from "./transcripts.ts";

export const KEY = "agent:main:telegram:dm:1";

/** What a person or the agent said; the agent's lines begin with `<`. */
export type Said = string;

/** A conversation about work that leaves one of everything. */
export const WORK: readonly Said[] = [
  "Let's make the webhook idempotent. Please implement the retry queue in src/webhook.ts.",
  "<I'm working on the retry queue in src/webhook.ts now.",
  "We decided to use Redis for the queue instead of Postgres.",
  "<The integration test webhook-retry is failing: the build cannot connect to Redis, so I'm stuck on it.",
  "<Next step: fix the Redis connection in CI, then run the integration tests again.",
];

export interface HandoffStage extends AsyncDisposable {
  fixture: TestAgent;
  agent: AgentHandle;
  handoff: Handoff;
  /** What was logged. */
  log: string[];
  /** Opens the first window of a session, in a project of its own. */
  open(key?: string, patch?: Partial<SessionEntry>): Promise<SessionEntry>;
  /** In the present window; resolves to the ids of the entries. */
  say(lines: readonly Said[], key?: string): Promise<string[]>;
  /** The next window. */
  next(reason?: WindowReason, key?: string): Promise<SessionEntry>;
  entry(key?: string): Promise<SessionEntry>;
  offer(key?: string): Promise<Offer | undefined>;
  /** A second hand-off on the same files, as another process would have it. */
  another(options?: Partial<HandoffOptions>): Promise<Handoff>;
}

export async function handoffStage(
  kind: StoreKind = "sqlite",
  options: Partial<HandoffOptions> = {},
): Promise<HandoffStage> {
  const fixture = await testAgent(kind);
  const log: string[] = [];
  const logger = createLogger({ level: "debug", write: (line) => log.push(line) });
  const agent = { ...fixture.agent, logger };
  const layout = agentLayout(fixture.home, agent.agentId);
  const common = { layout: layout.handoff, defaultWorkspace: layout.workspace, config: fixture.config.handoff };
  const opened: Handoff[] = [];
  const create = (own: AgentHandle, more: Partial<HandoffOptions>): Handoff => {
    const handoff = createHandoff({ ...common, ...options, ...more, agent: own });
    opened.push(handoff);
    return handoff;
  };
  const entryOf = async (key: string): Promise<SessionEntry> => {
    const entry = await agent.store.get(key);
    if (entry === undefined) throw new Error(`no session ${key}`);
    return entry;
  };
  const handoff = create(agent, {});
  return {
    fixture,
    agent,
    handoff,
    log,
    async open(key = KEY, patch = {}) {
      const complete = (entry: SessionEntry): SessionEntry => ({ project: "webhooks", ...entry, ...patch });
      const entry = await openWindow(agent, { key, previous: undefined, reason: "initial", complete });
      if (entry === undefined) throw new Error(`${key} is there already`);
      return entry;
    },
    async say(lines, key = KEY) {
      const path = transcriptPath(agent, await entryOf(key));
      await using transcript = await openTranscriptLog({ path, clock: agent.clock });
      const ids: string[] = [];
      for (const line of lines) {
        fixture.clock.advance(1000);
        const draft = line.startsWith("<") ? assistantDraft(line.slice(1)) : userDraft(line);
        ids.push(...(await transcript.append([draft])).map(({ id }) => id));
      }
      return ids;
    },
    async next(reason = "command", key = KEY) {
      return (await resetSession(agent, key, { reason })).entry;
    },
    entry: async (key = KEY) => await entryOf(key),
    offer: async (key = KEY) => await handoff.offer({ sessionKey: key, entry: await entryOf(key) }),
    another: async (more = {}) => create({ ...(await fixture.another()), logger }, more),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map(async (one) => await one.close()));
      await fixture[Symbol.asyncDispose]();
    },
  };
}
