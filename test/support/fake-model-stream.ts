/**
 * A model provider on loopback that streams: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions
 * (also for everything compatible with it) and Google streamGenerateContent. Replies are used in order;
 * the last one repeats.
 */
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import { listenOnLoopback } from "./fake-server.ts";

export interface StreamRequest {
  protocol: StreamProtocol;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** Aborted if the client disconnects before the end of the answer. */
  gone: AbortSignal;
}

export interface FakeModelStream extends AsyncDisposable {
  url: string;
  requests: StreamRequest[];
}

/** A promised reply is sent when it resolves. */
export async function startFakeModelStream(
  ...replies: (StreamReply | Promise<StreamReply>)[]
): Promise<FakeModelStream> {
  const requests: StreamRequest[] = [];
  const queue = [...replies];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const protocol = protocolOf(incoming.url ?? "");
      const body = JSON.parse(Buffer.concat(chunks).toString() || "{}") as Record<string, unknown>;
      requests.push({ protocol, headers: incoming.headers, body, gone: gone.signal });
      const reply = queue.length > 1 ? queue.shift() : queue[0];
      void Promise.resolve(reply).then((known) => known !== undefined && send(response, protocol, known));
    });
  });
  return { ...(await listenOnLoopback(server)), requests };
}

function protocolOf(url: string): StreamProtocol {
  if (url.includes("/messages")) return "anthropic";
  if (url.includes("/responses")) return "openai-responses";
  return url.includes(":streamGenerateContent") ? "google" : "openai-chat";
}

function send(response: ServerResponse, protocol: StreamProtocol, reply: StreamReply): void {
  if ("silent" in reply) return;
  if ("reset" in reply) response.socket?.resetAndDestroy();
  else if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(reply.body);
  } else sendStream(response, protocol, reply);
}

function sendStream(response: ServerResponse, protocol: StreamProtocol, reply: AnswerReply): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const pieces = streamPieces(protocol, reply);
  const { breaks } = reply;
  if (breaks === undefined) {
    response.end(pieces.join(""));
    return;
  }
  const sent = pieces.slice(0, breaks.after).join("");
  if (breaks.with === "error") response.end(sent + errorPiece(protocol));
  else response.write(sent);
}

export type StreamProtocol = "anthropic" | "openai-responses" | "openai-chat" | "google";

const USAGE: ReplyUsage = { input: 100, output: 10, cacheRead: 0 };

function streamPieces(protocol: StreamProtocol, reply: AnswerReply): string[] {
  const hasTool = reply.blocks.some(({ type }) => type === "tool");
  const finish = reply.finish ?? (hasTool ? "tool" : "stop");
  return FORMATS[protocol](reply.blocks, finish, reply.usage ?? USAGE);
}

function errorPiece(protocol: StreamProtocol): string {
  const message = "the provider is overloaded";
  switch (protocol) {
    case "anthropic":
      return event({ type: "error", error: { type: "overloaded_error", message } });
    case "openai-responses":
      return event({
        type: "error",
        sequence_number: 9,
        error: { type: "server_error", code: "server_error", message },
      });
    default:
      return data({ error: { code: 503, message, status: "UNAVAILABLE", type: "server_error" } });
  }
}

type Finish = NonNullable<AnswerReply["finish"]>;
type Format = (blocks: readonly ReplyBlock[], finish: Finish, usage: ReplyUsage) => string[];

const FORMATS: Record<StreamProtocol, Format> = {
  anthropic: (blocks, finish, usage) => [
    event({ type: "message_start", message: anthropicMessage(usage) }),
    ...blocks.flatMap(anthropicBlock),
    ...(finish === "none" ? [] : anthropicEnd(finish, usage)),
  ],
  "openai-responses": (blocks, finish, usage) => [
    event({ type: "response.created", response: { id: "resp_1", created_at: 1_763_000_000, model: "fake" } }),
    ...blocks.flatMap(responsesBlock),
    ...(finish === "none" ? [] : [responsesEnd(finish, usage)]),
  ],
  "openai-chat": (blocks, finish, usage) => [
    ...blocks.flatMap(chatBlock),
    ...(finish === "none" ? [] : [chatChunk({}, CHAT_FINISH[finish])]),
    data({ ...CHAT, choices: [], usage: chatUsage(usage) }),
    "data: [DONE]\n\n",
  ],
  google: (blocks, finish, usage) => [
    ...blocks.flatMap(googleBlock),
    ...(finish === "none" ? [] : [googleEnd(finish, usage)]),
  ],
};

function anthropicMessage({ input, cacheRead }: ReplyUsage): object {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "fake",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: input - cacheRead,
      output_tokens: 1,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: 0,
    },
  };
}

function anthropicBlock(block: ReplyBlock, index: number): string[] {
  const start = (content: object): string => event({ type: "content_block_start", index, content_block: content });
  const delta = (change: object): string => event({ type: "content_block_delta", index, delta: change });
  const stop = event({ type: "content_block_stop", index });
  if (block.type === "text") {
    const words = wordsOf(block.text).map((text) => delta({ type: "text_delta", text }));
    return [start({ type: "text", text: "" }), ...words, stop];
  }
  if (block.type === "thinking") {
    return [
      start({ type: "thinking", thinking: "", signature: "" }),
      ...wordsOf(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
      delta({ type: "signature_delta", signature: block.signature ?? "signed" }),
      stop,
    ];
  }
  const id = block.id ?? `toolu_${index}_${block.name}`;
  const written = delta({ type: "input_json_delta", partial_json: argumentsOf(block.input) });
  return [start({ type: "tool_use", id, name: block.name, input: {} }), written, stop];
}

function anthropicEnd(finish: Exclude<Finish, "none">, usage: ReplyUsage): string[] {
  const reason = { stop: "end_turn", length: "max_tokens", refusal: "refusal", tool: "tool_use" }[finish];
  const delta = { stop_reason: reason, stop_sequence: null };
  return [
    event({ type: "message_delta", delta, usage: { output_tokens: usage.output } }),
    event({ type: "message_stop" }),
  ];
}

function responsesBlock(block: ReplyBlock, index: number): string[] {
  const id = `item_${index}`;
  const added = (item: object): string => event({ type: "response.output_item.added", output_index: index, item });
  const done = (item: object): string => event({ type: "response.output_item.done", output_index: index, item });
  if (block.type === "tool") {
    const call = { type: "function_call", id, call_id: block.id ?? `call_${index}_${block.name}`, name: block.name };
    const written = argumentsOf(block.input);
    return [
      added({ ...call, arguments: "" }),
      event({ type: "response.function_call_arguments.delta", item_id: id, output_index: index, delta: written }),
      done({ ...call, arguments: written, status: "completed" }),
    ];
  }
  if (block.type === "thinking") {
    const item = { type: "reasoning", id, encrypted_content: "sealed" };
    const place = { item_id: id, summary_index: 0 };
    return [
      added({ ...item, summary: [] }),
      event({ type: "response.reasoning_summary_part.added", ...place }),
      event({ type: "response.reasoning_summary_text.delta", ...place, delta: block.thinking }),
      event({ type: "response.reasoning_summary_part.done", ...place }),
      done({ ...item, summary: [{ type: "summary_text", text: block.thinking }] }),
    ];
  }
  return [
    added({ type: "message", id }),
    ...wordsOf(block.text).map((delta) => event({ type: "response.output_text.delta", item_id: id, delta })),
    done({ type: "message", id }),
  ];
}

function responsesEnd(finish: Exclude<Finish, "none">, usage: ReplyUsage): string {
  const reason = finish === "length" ? "max_output_tokens" : finish === "refusal" ? "content_filter" : undefined;
  const response = {
    incomplete_details: reason === undefined ? null : { reason },
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cacheRead },
      output_tokens: usage.output,
    },
  };
  return event({ type: reason === undefined ? "response.completed" : "response.incomplete", response });
}

const CHAT = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_763_000_000, model: "fake" };
const CHAT_FINISH = { stop: "stop", length: "length", refusal: "content_filter", tool: "tool_calls" };

function chatBlock(block: ReplyBlock, index: number): string[] {
  if (block.type === "text") return wordsOf(block.text).map((content) => chatChunk({ role: "assistant", content }));
  if (block.type === "thinking") return [chatChunk({ role: "assistant", reasoning_content: block.thinking })];
  const { name, id = `call_${index}_${name}` } = block;
  const call = { index, id, type: "function", function: { name, arguments: "" } };
  return [
    chatChunk({ role: "assistant", tool_calls: [call] }),
    chatChunk({ tool_calls: [{ index, function: { arguments: argumentsOf(block.input) } }] }),
  ];
}

function chatChunk(delta: object, finish: string | null = null): string {
  return data({ ...CHAT, choices: [{ index: 0, delta, finish_reason: finish }] });
}

function chatUsage({ input, output, cacheRead }: ReplyUsage): object {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

function googleBlock(block: ReplyBlock): string[] {
  if (block.type === "text") return wordsOf(block.text).map((text) => googleChunk([{ text }]));
  if (block.type === "thinking") return [googleChunk([{ text: block.thinking, thought: true }])];
  return [googleChunk([{ functionCall: { name: block.name, args: block.input }, thoughtSignature: "signed" }])];
}

function googleEnd(finish: Exclude<Finish, "none">, usage: ReplyUsage): string {
  const finishReason = { stop: "STOP", length: "MAX_TOKENS", refusal: "SAFETY", tool: "STOP" }[finish];
  return data({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason }],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cacheRead,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
  });
}

function googleChunk(parts: object[]): string {
  return data({ candidates: [{ index: 0, content: { role: "model", parts } }] });
}

/** A string is sent unchanged, so that a test can send invalid JSON. */
function argumentsOf(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

function wordsOf(text: string): string[] {
  return text.match(/\S*\s*/g)?.filter((word) => word !== "") ?? [];
}

function event(value: { type: string; [member: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export interface AnswerReply {
  blocks: ReplyBlock[];
  /** Default: `tool` if a tool is called, else `stop`. `none`: the stream just ends. */
  finish?: "stop" | "length" | "refusal" | "tool" | "none";
  usage?: ReplyUsage;
  /** Ends the stream early, after this many pieces. */
  breaks?: { after: number; with: "silence" | "error" };
}

export type ReplyBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature?: string }
  | { type: "tool"; name: string; input: unknown; id?: string };

export interface ReplyUsage {
  /** Including cached tokens. */
  input: number;
  output: number;
  cacheRead: number;
}

export type StreamReply =
  | AnswerReply
  /** Any other complete response. */
  | { status: number; headers?: Record<string, string>; body: string }
  /** No response. */
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
