/**
 * A model API on loopback that speaks Anthropic's Messages protocol, scripted by the test:
 *
 *   await using api = await startFakeAnthropic();
 *   api.script(toolUse("Bash", { command: "echo hi" }), text("done"));
 *
 * Scripted replies answer the requests of the main conversation, in order; `answer` looks at a request
 * and may reply itself, for every kind of request. The default answer is
 * `echo: <question>`. The CLI's own side requests never use up the script.
 */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listenOnLoopback, parseBody, readBytes, sendJson } from "../fake-server.ts";
import { watchList } from "../time.ts";
import { type RecordedRequest, lastUserText, recordRequest } from "./recorded-request.ts";
import { type Reply, text, type Block, type MessageReply } from "./reply.ts";

export interface FakeAnthropic extends AsyncDisposable {
  readonly url: string;
  /** All message requests, in order. */
  readonly requests: readonly RecordedRequest[];
  /** Requests of the main conversation. */
  readonly conversation: readonly RecordedRequest[];
  /** Adds replies to the main conversation's script. */
  script(...replies: Reply[]): void;
  /** Called before the script; `undefined` leaves the request to the script. */
  answer(reply: (request: RecordedRequest) => Reply | undefined): void;
  /** The first request, past or future, that fits. */
  waitFor(fits: (request: RecordedRequest) => boolean, timeoutMs?: number): Promise<RecordedRequest>;
}

export async function startFakeAnthropic(): Promise<FakeAnthropic> {
  const requests: RecordedRequest[] = [];
  const queue: Reply[] = [];
  const watched = watchList(requests, "request");
  let answer: ((request: RecordedRequest) => Reply | undefined) | undefined;

  const replyTo = (request: RecordedRequest): Reply => {
    const chosen = answer?.(request);
    if (chosen !== undefined) return chosen;
    if (request.kind === "side") return text('{"title": "A short title"}');
    if (request.kind === "compaction") return text("<summary>What was said before.</summary>");
    return (request.kind === "main" ? queue.shift() : undefined) ?? text(`echo: ${lastUserText(request)}`);
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = parseBody(await readBytes(incoming));
    const path = (incoming.url ?? "").replace(/\?.*$/, "");
    if (incoming.method === "HEAD" && path === "/") response.end();
    else if (path === "/v1/messages/count_tokens") sendJson(response, 200, { input_tokens: countTokens(body) });
    else if (path === "/v1/messages" && incoming.method === "POST") {
      const request = recordRequest(body, incoming.headers);
      requests.push(request);
      watched.changed();
      await sendReply(response, replyTo(request), request.streamed, request.model);
    } else sendJson(response, 404, { type: "error", error: { type: "not_found_error", message: `no ${path} here` } });
  };

  const server = createServer((incoming, response) => {
    // Some tests disconnect midway.
    handle(incoming, response).catch(() => response.destroy());
  });
  const listening = await listenOnLoopback(server);

  return {
    url: listening.url,
    requests,
    get conversation() {
      return requests.filter(({ kind }) => kind === "main");
    },
    script: (...replies) => void queue.push(...replies),
    answer: (reply) => {
      answer = reply;
    },
    waitFor: async (fits, timeoutMs = 20_000) => await watched.waitFor(fits, timeoutMs),
    [Symbol.asyncDispose]: async () => await listening[Symbol.asyncDispose](),
  };
}

/** About four characters per token. */
function countTokens(body: Record<string, unknown>): number {
  return Math.ceil(JSON.stringify(body["messages"] ?? []).length / 4);
}

let lastId = 0;

async function sendReply(response: ServerResponse, reply: Reply, streamed: boolean, model: string): Promise<void> {
  switch (reply.kind) {
    case "hang":
      return;
    case "error":
      response.writeHead(reply.status, {
        "content-type": "application/json",
        "request-id": nextId("req"),
        ...(reply.retryAfter === undefined ? {} : { "retry-after": String(reply.retryAfter) }),
      });
      response.end(JSON.stringify({ type: "error", error: { type: reply.type, message: reply.message } }));
      return;
    case "message":
      if (streamed) await stream(response, reply, model);
      else sendWhole(response, reply, model);
  }
}

function sendWhole(response: ServerResponse, reply: MessageReply, model: string): void {
  response.writeHead(200, { "content-type": "application/json", "request-id": nextId("req") });
  const content = reply.blocks.map((block) => finishedBlock(block));
  const stop = { stop_reason: stopReason(reply), stop_sequence: null };
  response.end(JSON.stringify({ ...emptyMessage(model), content, ...stop, usage: reply.usage }));
}

async function stream(response: ServerResponse, reply: MessageReply, model: string): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": nextId("req") });
  const send = (event: { type: string; [member: string]: unknown }): void => {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const opening = { ...emptyMessage(model), usage: { ...reply.usage, output_tokens: 1 } };
  send({ type: "message_start", message: opening });
  let pieces = 0;
  for (const [index, block] of reply.blocks.entries()) {
    send({ type: "content_block_start", index, content_block: openedBlock(block) });
    for (const delta of deltas(block, reply)) {
      if (reply.cutAfter === pieces) {
        // Text sent so far still arrives.
        response.socket?.destroySoon();
        return;
      }
      send({ type: "content_block_delta", index, delta });
      pieces += 1;
      if (reply.paceMs > 0) await delay(reply.paceMs);
      if (response.destroyed) return;
    }
    await reply.heldUntil;
    if (response.destroyed) return;
    send({ type: "content_block_stop", index });
  }
  const end = { stop_reason: stopReason(reply), stop_sequence: null };
  send({ type: "message_delta", delta: end, usage: reply.usage });
  send({ type: "message_stop" });
  response.end();
}

function emptyMessage(model: string): Record<string, unknown> {
  return {
    id: nextId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function stopReason(reply: MessageReply): string {
  return reply.blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
}

function openedBlock(block: Block): Record<string, unknown> {
  switch (block.type) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    default:
      return { type: "tool_use", id: block.id ?? nextId("toolu"), name: block.name, input: {} };
  }
}

function finishedBlock(block: Block): Record<string, unknown> {
  switch (block.type) {
    case "text":
      return { ...block };
    case "thinking":
      return { ...block, signature: "signed" };
    default:
      return { ...openedBlock(block), input: block.input };
  }
}

/** Word by word if the answer is slow or will be cut, else in one piece. */
function deltas(block: Block, reply: MessageReply): Record<string, unknown>[] {
  const inWords = reply.paceMs > 0 || reply.cutAfter !== undefined;
  const split = (value: string): string[] => (inWords ? (value.match(/\S+\s*/g) ?? []) : [value]);
  switch (block.type) {
    case "text":
      return split(block.text).map((text) => ({ type: "text_delta", text }));
    case "thinking":
      return [
        ...split(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: "signed" },
      ];
    default:
      return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  }
}

function nextId(prefix: string): string {
  lastId += 1;
  return `${prefix}_${String(lastId).padStart(24, "0")}`;
}
