/** A conversation for chat commands: a real agent, and a lane that the test describes. */
import type { EngineName } from "../../src/config/choices.ts";
import type { HoldfastConfig } from "../../src/config/config.ts";
import { createEchoEngine } from "../../src/engine/echo/echo.ts";
import type { MessageContext } from "../../src/keys/message-context.ts";
import { initSessionState } from "../../src/session/init.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { createChatCommands, type CompactNow } from "../../src/turn/commands/chat-commands.ts";
import type { LaneControl } from "../../src/turn/commands/command.ts";
import type { AgentParts } from "../../src/turn/pipeline.ts";
import { compactNow } from "../../src/turn/run/compact.ts";
import { type AgentHome, createAgentHome } from "./agent-home.ts";
import { agentParts } from "./stand-ins.ts";
import { assistantDraft, userDraft } from "./transcripts.ts";

export const KEY = "agent:main:cli:dm:ada";

const ADA: MessageContext = { Provider: "cli", Surface: "cli", SenderId: "ada", CommandAuthorized: true };

export interface CommandHome extends AgentHome {
  parts: AgentParts;
  /** The answer; undefined if the text is not a command. */
  type(text: string, options?: TypeOptions): Promise<string | undefined>;
  /** Writes a message and its answer to the transcript, like a turn. */
  say(text: string): Promise<SessionEntry>;
  entry(): Promise<SessionEntry | undefined>;
}

export interface TypeOptions {
  ctx?: MessageContext;
  lane?: Partial<LaneControl>;
  turnId?: string;
}

export interface CommandHomeOptions {
  engine?: EngineName;
  config?: Partial<HoldfastConfig>;
  compact?: CompactNow;
}

export async function createCommandHome(options: CommandHomeOptions = {}): Promise<CommandHome> {
  const fixture = await createAgentHome();
  const { agent, clock } = fixture;
  const config = { ...fixture.config, ...options.config };
  const engine = { ...createEchoEngine(), ...(options.engine === undefined ? {} : { name: options.engine }) };
  const parts = agentParts({ agent, config, engine });
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
  };
}
