/** A conversation in which chat commands can be typed: a real agent, and a lane that the test describes. */
import type { EngineName } from "../../src/config/choices.ts";
import type { HoldfastConfig } from "../../src/config/config.ts";
import { createEchoEngine } from "../../src/engine/echo/echo.ts";
import type { MessageContext } from "../../src/keys/message-context.ts";
import { initSessionState } from "../../src/session/init.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { createChatCommands, type CompactNow } from "../../src/turn/commands/chat-commands.ts";
import { type TestAgent, testAgent } from "./test-agent.ts";
import { assistantDraft, userDraft } from "./transcripts.ts";
import type { LaneControl } from "../../src/turn/commands/command.ts";
import type { AgentParts } from "../../src/turn/pipeline.ts";
import { compactNow } from "../../src/turn/run/compact.ts";

export const KEY = "agent:main:cli:dm:ada";

const ADA: MessageContext = { Provider: "cli", Surface: "cli", SenderId: "ada", CommandAuthorized: true };

export interface CommandStage extends TestAgent {
  parts: AgentParts;
  /** What the person sees; undefined when the text is no command. */
  type(text: string, options?: TypeOptions): Promise<string | undefined>;
  /** A message and its answer, as a turn leaves them in the transcript. */
  say(text: string): Promise<SessionEntry>;
  entry(): Promise<SessionEntry | undefined>;
}

export interface TypeOptions {
  ctx?: MessageContext;
  lane?: Partial<LaneControl>;
  turnId?: string;
}

export interface CommandStageOptions {
  engine?: EngineName;
  config?: Partial<HoldfastConfig>;
  compact?: CompactNow;
}

export async function commandStage(options: CommandStageOptions = {}): Promise<CommandStage> {
  const fixture = await testAgent();
  const { agent, clock } = fixture;
  const config = { ...fixture.config, ...options.config };
  const parts: AgentParts = {
    agent,
    config,
    engine: { ...createEchoEngine(), ...(options.engine === undefined ? {} : { name: options.engine }) },
    history: agent.store.history,
    systemEvents: agent.store.systemEvents,
    describeWorkspace: async () => ({ system: "", skills: [], version: 1 }),
  };
  const commands = createChatCommands({ compact: options.compact ?? compactNow });

  const type = async (text: string, { ctx, lane, turnId }: TypeOptions = {}): Promise<string | undefined> => {
    const found = commands.find(text, ctx?.BotUsername);
    if (found === undefined) return undefined;
    const { command, argument } = found;
    const request = {
      parts,
      sessionKey: KEY,
      ctx: { ...ADA, Body: text, ...ctx },
      argument,
      lane: { stop: async () => ({ aborted: false, dropped: 0 }), state: () => ({ queued: 0 }), ...lane },
      signal: new AbortController().signal,
      turnId,
    };
    if (command.when === "now") return await command.run(request);
    return await withSessionLease(agent, KEY, {}, async (held) => await command.run({ ...request, held }));
  };

  const say = async (text: string): Promise<SessionEntry> => {
    const ctx = { ...ADA, SessionKey: KEY, Body: text };
    const { sessionEntry, transcriptPath, bodyStripped } = await initSessionState({ agent, ctx, cfg: config });
    await using log = await openTranscriptLog({ path: transcriptPath, clock });
    await log.append([userDraft(bodyStripped ?? text), assistantDraft("well said")]);
    return sessionEntry;
  };

  return {
    ...fixture,
    config,
    parts,
    type,
    say,
    entry: async () => await agent.store.get(KEY),
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
    },
  };
}
