/**
 * A model provider on loopback that streams: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions
 * (also for everything compatible with it) and Google streamGenerateContent. Replies are used up in order;
 * the last one stays.
 */
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import { listenOnLoopback } from "../loopback-server.ts";
import { type StreamProtocol, errorPiece, streamPieces } from "./stream-formats.ts";
import type { AnswerReply, StreamReply } from "./stream-reply.ts";

export interface StreamRequest {
  protocol: StreamProtocol;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  /** Aborted when the client has gone before the answer was complete. */
  gone: AbortSignal;
}

export interface FakeModelStream extends AsyncDisposable {
  url: string;
  requests: StreamRequest[];
}

/** A reply that is a promise is given when it is there. */
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
