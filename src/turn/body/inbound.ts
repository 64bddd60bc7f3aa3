/**
 * Reads an inbound message: normalises its text fields at admission, and finds mentions of the agent.
 * Mentions are `@name` (Telegram and most others), `<@id>` (Discord, Slack), `@number` (WhatsApp), and the
 * configured patterns. Mentions of other people are plain text.
 */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { isGroupMessage } from "../../keys/group.ts";
import { type MessageContext, type ChatType, normalizeChatType } from "../../keys/message-context.ts";
import { stripStructuralPrefixes } from "../../session/reset-trigger.ts";
import type { SessionEntry } from "../../store/session-entry.ts";

/**
 * Normalises the text fields. `BodyForAgent` defaults to `Body`, `BodyForCommands` to `CommandBody`,
 * `RawBody` or `Body`. A command is authorised only if the channel says so. The given object is not changed,
 * and a second call changes nothing.
 */
export function finalizeInboundContext(
  ctx: MessageContext,
): MessageContext & Required<Pick<MessageContext, "Body" | "BodyForAgent" | "BodyForCommands" | "CommandAuthorized">> {
  const texts = Object.fromEntries(
    TEXT_FIELDS.flatMap((field) => {
      const text = ctx[field];
      return typeof text === "string" ? [[field, normalizeInboundTextNewlines(text)]] : [];
    }),
  ) as Pick<MessageContext, (typeof TEXT_FIELDS)[number]>;
  const chatType = normalizeChatType(ctx.ChatType) ?? addressedChatType(ctx);
  const untrusted = ctx.UntrustedContext?.map(normalizeInboundTextNewlines).filter((item) => item.trim() !== "");
  const Body = texts.Body ?? texts.RawBody ?? "";
  return {
    ...ctx,
    ...texts,
    Body,
    BodyForAgent: texts.BodyForAgent ?? Body,
    BodyForCommands: texts.BodyForCommands ?? texts.CommandBody ?? texts.RawBody ?? Body,
    ...(chatType === undefined ? {} : { ChatType: chatType }),
    ...(untrusted === undefined ? {} : { UntrustedContext: untrusted }),
    CommandAuthorized: ctx.CommandAuthorized === true,
  };
}

/** An address such as `telegram:group:-100` implies the type. */
function addressedChatType(ctx: MessageContext): ChatType | undefined {
  if (!isGroupMessage(ctx)) return undefined;
  return ctx.From?.toLowerCase().includes(":channel:") === true ? "channel" : "group";
}

const TEXT_FIELDS = [
  "Body",
  "RawBody",
  "CommandBody",
  "BodyForAgent",
  "BodyForCommands",
  "BodyStripped",
  "ReplyToBody",
] as const satisfies readonly (keyof MessageContext)[];

/** Every line break becomes `\n`. A backslash followed by `n` is kept: `C:\new` is a folder. */
export function normalizeInboundTextNewlines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

export type GroupActivation = "mention" | "always";

/** Whether the agent should answer. In a group it reads everything and answers when addressed. */
export function isAddressed(params: {
  ctx: MessageContext;
  entry: Pick<SessionEntry, "groupActivation"> | undefined;
  mentionPatterns?: readonly RegExp[] | undefined;
  /** For groups whose entry has no `groupActivation`. Default: `mention`. */
  defaultActivation?: GroupActivation | undefined;
  /** Authorised commands need no mention. Default: false. */
  isCommand?: boolean | undefined;
}): boolean {
  const { ctx, entry, mentionPatterns = [], defaultActivation = "mention" } = params;
  if (!isGroupMessage(ctx)) return true;
  if ((entry?.groupActivation ?? defaultActivation) === "always") return true;
  if (ctx.WasMentioned === true) return true;
  if (params.isCommand === true && ctx.CommandAuthorized === true) return true;
  return mentionsAgent(ctx.RawBody ?? ctx.CommandBody ?? ctx.Body ?? "", { ctx, mentionPatterns });
}

/** Patterns are regular expressions and ignore case. */
export function compileMentionPatterns(sources: readonly string[]): RegExp[] {
  return sources.map((source) => {
    try {
      return new RegExp(source, "i");
    } catch (error) {
      const message = `The mention pattern ${source} is not a valid regular expression`;
      throw new HoldfastError("usage", "mention-pattern-invalid", message, {
        hint: `Correct groups.mentionPatterns (${errorMessage(error)}). A pattern is a regular expression such as \\bjarvis\\b.`,
        data: { pattern: source },
        cause: error,
      });
    }
  });
}

export interface MentionOptions {
  ctx: MessageContext;
  mentionPatterns?: readonly RegExp[] | undefined;
}

export function mentionsAgent(text: string, { ctx, mentionPatterns = [] }: MentionOptions): boolean {
  if (ownMention(ctx)?.test(text) === true) return true;
  // A pattern that matches the empty string would match every message.
  return mentionPatterns.some((pattern) => (pattern.exec(text)?.[0] ?? "") !== "");
}

/** Removes mentions of the agent; a configured pattern only at the start, elsewhere it is part of a sentence. */
export function stripMentions(text: string, { ctx, mentionPatterns = [] }: MentionOptions): string {
  const own = ownMention(ctx, "g");
  const rest = own === undefined ? text.trim() : text.replace(own, "").trim();
  for (const pattern of mentionPatterns) {
    const match = pattern.exec(rest);
    if (match?.index !== 0 || match[0] === "") continue;
    return rest
      .slice(match[0].length)
      .replace(/^[,:;!]/, "")
      .trim();
  }
  return rest;
}

/** The text in which commands are searched: without wrappers and mentions. */
export function commandText(options: MentionOptions): string {
  const { ctx } = options;
  const text = ctx.BodyForCommands ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body ?? "";
  return stripStructuralPrefixes(stripMentions(stripStructuralPrefixes(text), options));
}

/** Also matches one blank in front, so that none is left. Undefined when the agent's name is unknown. */
function ownMention(ctx: MessageContext, flags = ""): RegExp | undefined {
  const forms = [nameForm(ctx.BotUsername), idForm(ctx)].filter((form) => form !== undefined);
  return forms.length === 0 ? undefined : new RegExp(`[^\\S\\n]?(?:${forms.join("|")})`, `iu${flags}`);
}

/** `@name`, also in `/new@name`, but not inside an address such as `me@name.org`. */
function nameForm(username: string | undefined): string | undefined {
  const name = username?.trim().replace(/^@/, "") ?? "";
  if (name === "") return undefined;
  return `(?<=^|[^\\p{L}\\p{N}_.+-]|(?:^|\\s)/\\w{1,64})@${literalPattern(name)}(?![\\p{L}\\p{N}_]|[.-][\\p{L}\\p{N}])`;
}

function idForm(ctx: MessageContext): string | undefined {
  const id = ctx.BotId?.trim() ?? "";
  if (id === "") return undefined;
  const channel = (ctx.OriginatingChannel ?? ctx.Provider ?? ctx.Surface ?? "").trim().toLowerCase();
  if (channel === "discord" || channel === "slack") return `<@!?${literalPattern(id)}>`;
  if (channel !== "whatsapp") return undefined;
  // An address may follow the number: 15551234567:3@s.whatsapp.net.
  const number = /^\+?(\d{5,})/.exec(id)?.[1];
  return number === undefined ? undefined : `@\\+?${number}(?!\\d)`;
}

/** Escapes a text for use in a regular expression. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
