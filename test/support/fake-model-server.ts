/**
 * A model provider on loopback: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions (also for
 * everything compatible with it) and Google generateContent. The test chooses the replies, good and bad.
 */
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { listenOnLoopback, parseBody, readBytes } from "./fake-server.ts";

export type ModelProtocol = "anthropic" | "openai-responses" | "openai-chat" | "google";

export interface FakeModelRequest {
  protocol: ModelProtocol | "unknown";
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** The text of system rules and prompt, from wherever the protocol puts them. */
  system: string;
  prompt: string;
}

export type FakeModelReply =
  /** A valid answer in the protocol of the request. */
  | { text: string; finish?: "stop" | "length" | "refusal" }
  /** Any other complete response. */
  | { status: number; headers?: Record<string, string>; body: string }
  /** Starts like an answer and never ends, a chunk every few milliseconds. */
  | { endless: string }
  /** The connection breaks, before or after the first bytes. */
  | { reset: "at-once" | "half-way" }
  /** No response. */
  | { silent: true };

export interface FakeModelServer extends AsyncDisposable {
  /** Without a path. */
  url: string;
  requests: FakeModelRequest[];
}

export async function startFakeModelServer(
  respond: (request: FakeModelRequest) => FakeModelReply,
): Promise<FakeModelServer> {
  const requests: FakeModelRequest[] = [];
  const server = createServer((incoming, response) => {
    void readRequest(incoming).then((request) => {
      requests.push(request);
      send(response, request, respond(request));
    });
  });
  return { ...(await listenOnLoopback(server)), requests };
}

async function readRequest(incoming: IncomingMessage): Promise<FakeModelRequest> {
  const path = incoming.url ?? "";
  const body = parseBody(await readBytes(incoming));
  const messages = (body["messages"] ?? body["input"] ?? body["contents"] ?? []) as { role: string }[];
  const rules = messages.filter(({ role }) => role === "system" || role === "developer");
  return {
    protocol: protocolOf(path),
    path,
    headers: incoming.headers,
    body,
    system: textsIn([body["system"], body["systemInstruction"], body["instructions"], rules]),
    prompt: textsIn(messages.filter((message) => !rules.includes(message))),
  };
}

function protocolOf(path: string): FakeModelRequest["protocol"] {
  if (path.endsWith("/messages")) return "anthropic";
  if (path.endsWith("/responses")) return "openai-responses";
  if (path.endsWith("/chat/completions")) return "openai-chat";
  return /\/models\/[^/]+:generateContent$/.test(path) ? "google" : "unknown";
}

/** All strings in `text` and `content` members. */
function textsIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textsIn).join("");
  if (typeof value !== "object" || value === null) return "";
  const { text, content, parts } = value as Record<string, unknown>;
  return textsIn(text ?? content ?? parts);
}

function send(response: ServerResponse, request: FakeModelRequest, reply: FakeModelReply): void {
  if ("silent" in reply) return;
  if ("reset" in reply) {
    if (reply.reset === "at-once") response.socket?.resetAndDestroy();
    else response.writeHead(200, JSON_TYPE).write('{"id":"', () => response.socket?.resetAndDestroy());
    return;
  }
  if ("endless" in reply) {
    response.writeHead(200, JSON_TYPE);
    const timer = setInterval(() => response.write(reply.endless), 5);
    response.on("close", () => clearInterval(timer));
    return;
  }
  if ("status" in reply) {
    response.writeHead(reply.status, reply.headers ?? JSON_TYPE).end(reply.body);
    return;
  }
  if (request.protocol === "unknown") {
    response.writeHead(404, JSON_TYPE).end('{"error":{"message":"no such path"}}');
    return;
  }
  const answer = ANSWERS[request.protocol](reply.text, reply.finish ?? "stop");
  response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer));
}

const JSON_TYPE = { "content-type": "application/json" };

type Finish = "stop" | "length" | "refusal";

/** Eleven tokens in, seven out, in every protocol. */
const ANSWERS: Record<ModelProtocol, (text: string, finish: Finish) => unknown> = {
  anthropic: (text, finish) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "fake",
    content: [{ type: "text", text }],
    stop_reason: { stop: "end_turn", length: "max_tokens", refusal: "refusal" }[finish],
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 7 },
  }),
  "openai-responses": (text, finish) => ({
    id: "resp_1",
    object: "response",
    created_at: 1_763_000_000,
    status: finish === "stop" ? "completed" : "incomplete",
    error: null,
    incomplete_details:
      finish === "stop" ? null : { reason: finish === "length" ? "max_output_tokens" : "content_filter" },
    model: "fake",
    output: [
      {
        type: "message",
        id: "msg_1",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  }),
  "openai-chat": (text, finish) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_763_000_000,
    model: "fake",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: text },
        finish_reason: { stop: "stop", length: "length", refusal: "content_filter" }[finish],
      },
    ],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }),
  google: (text, finish) => ({
    candidates: [
      {
        index: 0,
        content: { role: "model", parts: [{ text }] },
        finishReason: { stop: "STOP", length: "MAX_TOKENS", refusal: "SAFETY" }[finish],
      },
    ],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
  }),
};
