/**
 * A model API on loopback that speaks Anthropic's Messages protocol and says what the test tells it to:
 *
 *   await using api = await startFakeAnthropic();
 *   api.script(toolUse("Bash", { command: "echo hi" }), text("done"));
 *
 * Scripted replies answer the requests of the main conversation, in order; `answer` looks at a request
 * and may reply itself, for every kind of request. What nobody has scripted is answered with
 * `echo: <what was asked>`; what the CLI asks on its own account never uses up the script.
 */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { isRecord } from "../../../src/base/json-record.ts";
import { listenOnLoopback } from "../loopback-server.ts";
import { watchList } from "../watched-list.ts";
import { type RecordedRequest, lastUserText, recordRequest } from "./recorded-request.ts";
import { type Reply, text } from "./reply.ts";
import { sendReply } from "./send-reply.ts";

export interface FakeAnthropic extends AsyncDisposable {
  readonly url: string;
  /** Every request for a message so far, in order. */
  readonly requests: readonly RecordedRequest[];
  /** Those of the main conversation. */
  readonly conversation: readonly RecordedRequest[];
  /** Adds replies to the main conversation's script. */
  script(...replies: Reply[]): void;
  /** Asked before the script; `undefined` leaves the request to it. */
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
    const body = await readBody(incoming);
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
    // A client that hangs up in the middle is part of the game.
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

async function readBody(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const parsed: unknown = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString("utf8"));
  return isRecord(parsed) ? parsed : {};
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** About four characters a token, as everywhere. */
function countTokens(body: Record<string, unknown>): number {
  return Math.ceil(JSON.stringify(body["messages"] ?? []).length / 4);
}
