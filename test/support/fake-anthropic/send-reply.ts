/** Puts a reply on the wire as the Messages API does: as server-sent events or as one JSON object. */
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Block, MessageReply, Reply } from "./reply.ts";

let lastId = 0;

export async function sendReply(
  response: ServerResponse,
  reply: Reply,
  streamed: boolean,
  model: string,
): Promise<void> {
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
        // What was said so far still arrives.
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

/** Word by word when the answer is slow or will be cut, in one piece otherwise. */
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
