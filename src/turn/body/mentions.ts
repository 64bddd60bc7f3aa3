/**
 * How the agent is called by name: `@name` (Telegram and most others), `<@id>` (Discord, Slack),
 * `@number` (WhatsApp), and the words that the configuration lists. Mentions of other people are text.
 */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { stripStructuralPrefixes } from "../../session/reset-trigger.ts";
import { literalPattern } from "./literal-pattern.ts";

/** Reads the configured patterns: regular expressions, whatever the case. */
export function compileMentionPatterns(sources: readonly string[]): RegExp[] {
  return sources.map((source) => {
    try {
      return new RegExp(source, "i");
    } catch (error) {
      throw new HoldfastError("usage", "mention-pattern-invalid", `The mention pattern ${source} cannot be read`, {
        hint: `Correct it in the configuration (${errorMessage(error)}); it is a regular expression such as \\bjarvis\\b.`,
        data: { pattern: source },
        cause: error,
      });
    }
  });
}

export interface MentionOptions {
  /** The agent's own name and id are taken from here. */
  ctx: MessageContext;
  mentionPatterns?: readonly RegExp[];
}

export function mentionsAgent(text: string, { ctx, mentionPatterns = [] }: MentionOptions): boolean {
  if (ownMention(ctx)?.test(text) === true) return true;
  // A pattern that matches nothing at all would match every message.
  return mentionPatterns.some((pattern) => (pattern.exec(text)?.[0] ?? "") !== "");
}

/**
 * Takes out every mention of the agent, and a configured word where it begins the message: elsewhere
 * it is part of a sentence. Line breaks stay.
 */
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

/** What commands are looked for in: one line without wrappers and mentions. */
export function commandText(options: MentionOptions): string {
  const { ctx } = options;
  const text = ctx.BodyForCommands ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body ?? "";
  return stripStructuralPrefixes(stripMentions(stripStructuralPrefixes(text), options));
}

/** With one blank in front, so that none is left over. Undefined when the agent's name is not known. */
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
