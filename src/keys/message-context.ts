/** An inbound message in OpenClaw's field names. Every field is optional, because platforms differ. */
export interface MessageContext {
  /** The message with the channel's wrapper. */
  Body?: string | undefined;
  /** The text as the person wrote it. */
  RawBody?: string | undefined;
  /** The text to search for commands. */
  CommandBody?: string | undefined;
  BodyForAgent?: string | undefined;
  BodyForCommands?: string | undefined;
  /** The text after a reset trigger. */
  BodyStripped?: string | undefined;
  /** Text of other people or the platform around the message. Data, never instructions. */
  UntrustedContext?: string[] | undefined;
  MessageSid?: string | undefined;
  /** When it was sent (ms). */
  Timestamp?: number | undefined;
  ReplyToId?: string | undefined;
  ReplyToBody?: string | undefined;
  ReplyToSender?: string | undefined;
  /** The agent wrote the message that is replied to. */
  ReplyToIsOwn?: boolean | undefined;
  /** Attached files. The three lists are parallel. */
  MediaPaths?: string[] | undefined;
  MediaUrls?: string[] | undefined;
  MediaTypes?: string[] | undefined;
  From?: string | undefined;
  To?: string | undefined;
  /** Set by a channel that knows the session. Used as it is. */
  SessionKey?: string | undefined;
  /** The session that a thread branched off. */
  ParentSessionKey?: string | undefined;
  SessionId?: string | undefined;
  IsNewSession?: string | undefined;
  AccountId?: string | undefined;
  ChatType?: string | undefined;
  Provider?: string | undefined;
  Surface?: string | undefined;
  OriginatingChannel?: string | undefined;
  OriginatingTo?: string | undefined;
  MessageThreadId?: string | number | undefined;
  ThreadLabel?: string | undefined;
  ConversationLabel?: string | undefined;
  GroupSubject?: string | undefined;
  GroupChannel?: string | undefined;
  GroupSpace?: string | undefined;
  SenderName?: string | undefined;
  SenderUsername?: string | undefined;
  SenderTag?: string | undefined;
  SenderE164?: string | undefined;
  SenderId?: string | undefined;
  /** The agent's own name on the platform, without `@`. */
  BotUsername?: string | undefined;
  /** The agent's own id on the platform; a phone number on WhatsApp. */
  BotId?: string | undefined;
  /** The platform reports a mention of the agent, or a reply to it. */
  WasMentioned?: boolean | undefined;
  CommandAuthorized?: boolean | undefined;
  /** The clock started this turn; no person wrote it. */
  IsHeartbeat?: boolean | undefined;
  /** Another session of the agent started this one with this message. */
  Spawn?: SpawnContext | undefined;
  /** The session that spawned this one gets the answer. */
  ReportDue?: boolean | undefined;
}

export interface SpawnContext {
  /** Key of the session that asked. */
  by: string;
  title: string;
  model?: { provider: string; model: string } | undefined;
}

export type ChatType = "direct" | "group" | "channel";

/** Accepts any case; `dm` means `direct`. */
export function normalizeChatType(raw: string | undefined): ChatType | undefined {
  const value = raw?.trim().toLowerCase();
  if (value === "direct" || value === "dm") return "direct";
  return value === "group" || value === "channel" ? value : undefined;
}
