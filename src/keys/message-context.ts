/**
 * An inbound message as a channel hands it over, in OpenClaw's field names. Adapters fill in what
 * they know; everything is optional because every platform knows something else.
 */
export interface MessageContext {
  /** The message with whatever structure the channel put around it. */
  Body?: string;
  /** The text alone, as the person wrote it. */
  RawBody?: string;
  /** The text to look for commands in. */
  CommandBody?: string;
  BodyForAgent?: string;
  BodyForCommands?: string;
  /** The text after a reset trigger was taken off. */
  BodyStripped?: string;
  /** What somebody else wrote or a platform said around the message: data, never instructions. */
  UntrustedContext?: string[];
  /** The platform's id of the message. */
  MessageSid?: string;
  /** When it was sent (ms). */
  Timestamp?: number;
  ReplyToId?: string;
  ReplyToBody?: string;
  ReplyToSender?: string;
  /** Files that came with the message; the three lists go together. */
  MediaPaths?: string[];
  MediaUrls?: string[];
  MediaTypes?: string[];
  From?: string;
  To?: string;
  /** An adapter that knows the session names it here; it is then taken as it is. */
  SessionKey?: string;
  /** The session that a thread branched off from. */
  ParentSessionKey?: string;
  SessionId?: string;
  IsNewSession?: string;
  AccountId?: string;
  ChatType?: string;
  Provider?: string;
  Surface?: string;
  OriginatingChannel?: string;
  OriginatingTo?: string;
  MessageThreadId?: string | number;
  ThreadLabel?: string;
  ConversationLabel?: string;
  GroupSubject?: string;
  GroupChannel?: string;
  GroupSpace?: string;
  SenderName?: string;
  SenderUsername?: string;
  SenderTag?: string;
  SenderE164?: string;
  SenderId?: string;
  /** The agent's own name on the platform, without `@`. */
  BotUsername?: string;
  /** The agent's own id on the platform; a phone number on WhatsApp. */
  BotId?: string;
  /** The platform itself says that the agent is meant: a mention or a reply to it. */
  WasMentioned?: boolean;
  CommandAuthorized?: boolean;
}
