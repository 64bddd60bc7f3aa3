/**
 * Requests of OpenClaw's clients in the names of the method table. A parameter that means the same here passes
 * unchanged; the table has the others. An unsupported one is refused with the reason, so that no client relies on it. docs/openclaw-compatibility.md lists them.
 */
import { HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import type { RequestFrame } from "./protocol.ts";
import type { RpcParts } from "./rpc-parts.ts";

type Request = Pick<RequestFrame, "method" | "params">;

export function readOpenClawRequest({ method, params }: Request): Request {
  const known = Object.hasOwn(TRANSLATIONS, method) ? TRANSLATIONS[method] : undefined;
  if (known === undefined || !isRecord(params)) return { method, params };
  const { to = method, names = {}, complete } = known;
  const own: Params = {};
  for (const [name, value] of Object.entries(params)) {
    Object.assign(own, Object.hasOwn(names, name) ? names[name]?.(value, `${method} ${name}`) : { [name]: value });
  }
  return { method: to, params: complete?.(own) ?? own };
}

/**
 * Answers to methods that Holdfast does not have, but without which OpenClaw's command line calls the gateway
 * unreachable. They tell nothing that every client may not know. Undefined: the method table answers.
 */
export function answerOpenClaw(method: string, { config, version, clock }: RpcParts): unknown {
  switch (method) {
    case "system-presence":
      return [{ host: "holdfast", version, mode: "gateway", reason: "self", ts: clock.now() }];
    case "config.get":
      return { exists: false, valid: true, config: {}, issues: [] };
    case "models.list":
      return { models: modelsOf(config) };
    default:
      return undefined;
  }
}

function modelsOf({ models, agents }: RpcParts["config"]) {
  const named = Object.values(agents).flatMap(({ model }) => model ?? []);
  return [...new Set([...named, ...Object.keys(models)])].flatMap((name) => {
    const slash = name.indexOf("/");
    return slash > 0 ? [{ provider: name.slice(0, slash), id: name.slice(slash + 1), name }] : [];
  });
}

type Params = Record<string, unknown>;

/** A parameter in our names. `place` is for messages. */
type Reading = (value: unknown, place: string) => Params;

interface Translation {
  /** Our name of the method. Default: the same. */
  to?: string;
  names?: Record<string, Reading>;
  complete?: (own: Params) => Params;
}

const ignored: Reading = () => ({});

function named(name: string): Reading {
  return (value) => ({ [name]: value });
}

/** Empty values ask for nothing. */
function refused(reason: string): Reading {
  return (value, place) => {
    const isEmpty = value === null || value === "" || value === false || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) throw notSupported(place, reason);
    return {};
  };
}

function notSupported(place: string, reason: string): HoldfastError {
  return new HoldfastError("unsupported", "parameter-unsupported", `${place} is not supported: ${reason}`, {
    hint: "Leave it out.",
    data: { parameter: place },
  });
}

const keepTranscript: Reading = (value, place) => {
  if (value === false) throw notSupported(place, "the transcripts of a deleted session always move to the archive");
  return {};
};

const attachments = refused("files reach an agent through its channels");
const elsewhere = refused("the answer goes to the chat of the session; message.send writes to another one");
const lineage = refused("only the session that spawns another one sets it");

/** OpenClaw's client also sends how it found the session. The key decides; the rest is for delivery. */
function withOneSession({ timeoutSeconds, ...params }: Params): Params {
  const limited = timeoutSeconds === 0 ? params : { ...params, timeoutSeconds };
  if (params["sessionKey"] === undefined) return limited;
  const { sessionId: _id, to, ...rest } = limited;
  return params["deliver"] === true ? { ...rest, to } : rest;
}

const TRANSLATIONS: Record<string, Translation> = {
  "sessions.resolve": { names: { includeGlobal: ignored, includeUnknown: ignored } },
  "sessions.patch": { names: { spawnedBy: lineage } },
  "sessions.reset": { names: { reason: ignored } },
  "sessions.delete": { names: { deleteTranscript: keepTranscript } },
  "chat.send": { names: { attachments, timeoutMs: ignored } },
  agent: {
    names: {
      timeout: named("timeoutSeconds"),
      attachments,
      replyTo: elsewhere,
      replyChannel: elsewhere,
      replyAccountId: elsewhere,
      threadId: elsewhere,
      groupId: elsewhere,
      groupChannel: elsewhere,
      groupSpace: elsewhere,
      lane: ignored,
      extraSystemPrompt: refused("write it into a file of the workspace, such as AGENTS.md"),
      label: refused("set it with sessions.patch"),
      spawnedBy: lineage,
    },
    complete: withOneSession,
  },
  send: {
    to: "message.send",
    names: {
      mediaUrl: (url) => ({ media: [url] }),
      mediaUrls: named("media"),
      gifPlayback: refused("videos are sent as they are"),
      sessionKey: ignored,
    },
  },
  health: { names: { probe: ignored } },
  "channels.status": { names: { probe: ignored, timeoutMs: ignored } },
};
