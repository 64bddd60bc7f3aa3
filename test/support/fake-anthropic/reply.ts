/** Replies of the fake model to one request, and functions that build them. */

export type Reply =
  | MessageReply
  | { kind: "error"; status: number; type: string; message: string; retryAfter?: number }
  | { kind: "hang" };

export interface MessageReply {
  kind: "message";
  blocks: Block[];
  usage: Usage;
  /** Milliseconds between two pieces of a streamed answer. */
  paceMs: number;
  /** Cuts the connection after this many pieces. */
  cutAfter?: number;
  /** Sends all words at once, but ends the stream only after this promise. */
  heldUntil?: Promise<unknown>;
}

export type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "tool_use"; name: string; input: Record<string, unknown>; id?: string };

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
}

const DEFAULT_USAGE: Usage = {
  input_tokens: 100,
  output_tokens: 10,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** An answer of blocks, in order. */
export function message(...blocks: Block[]): MessageReply {
  return { kind: "message", blocks, usage: DEFAULT_USAGE, paceMs: 0 };
}

export function text(value: string): MessageReply {
  return message({ type: "text", text: value });
}

export function thinking(thought: string, answer: string): MessageReply {
  return message({ type: "thinking", thinking: thought }, { type: "text", text: answer });
}

/** A call of a tool: `Bash`, `Read`, `Agent`, `mcp__server__tool`. */
export function toolUse(name: string, input: Record<string, unknown>): MessageReply {
  return message({ type: "tool_use", name, input });
}

/** The same answer, word by word. */
export function slowly(reply: MessageReply, paceMs: number): MessageReply {
  return { ...reply, paceMs };
}

/** A streamed answer that ends when the test releases it. */
export function heldUntil(released: Promise<unknown>, reply: MessageReply): MessageReply {
  return { ...reply, heldUntil: released };
}

export function withUsage(reply: MessageReply, usage: Partial<Usage>): MessageReply {
  return { ...reply, usage: { ...reply.usage, ...usage } };
}

/** Cuts the connection after this many words. */
export function cutAfter(reply: MessageReply, pieces: number): MessageReply {
  return { ...reply, cutAfter: pieces };
}

/** Never answers the request. */
export function hang(): Reply {
  return { kind: "hang" };
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

export function apiError(status: number, messageText = `refused with ${status}`, retryAfter?: number): Reply {
  return {
    kind: "error",
    status,
    type: ERROR_TYPES[status] ?? "api_error",
    message: messageText,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}
