/** What the streaming stand-in says to one request, in no provider's words. */

export interface AnswerReply {
  blocks: ReplyBlock[];
  /** Left out: `tool` when a tool is called, else `stop`. `none`: the stream just ends. */
  finish?: "stop" | "length" | "refusal" | "tool" | "none";
  usage?: ReplyUsage;
  /** After so many pieces of the stream it is over, in this way. */
  breaks?: { after: number; with: "silence" | "error" };
}

export type ReplyBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature?: string }
  | { type: "tool"; name: string; input: unknown; id?: string };

export interface ReplyUsage {
  /** All of it. */
  input: number;
  output: number;
  cacheRead: number;
}

export type StreamReply =
  | AnswerReply
  /** Anything else that ends. */
  | { status: number; headers?: Record<string, string>; body: string }
  /** Nothing ever comes. */
  | { silent: true }
  /** The connection breaks at once. */
  | { reset: true };

export function says(text: string, more: Omit<AnswerReply, "blocks"> = {}): AnswerReply {
  return { blocks: [{ type: "text", text }], ...more };
}

export function uses(name: string, input: unknown, before?: string): AnswerReply {
  return {
    blocks: [...(before === undefined ? [] : [{ type: "text" as const, text: before }]), { type: "tool", name, input }],
  };
}
