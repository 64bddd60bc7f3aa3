/** `/queue collect debounce:2s cap:10 drop:old`: what happens to messages that come during an answer. */
import { QUEUE_DROPS, QUEUE_MODES, type QueueConfig } from "../../config/config.ts";
import { closestMatch } from "../../base/suggest.ts";
import type { SessionPatch } from "../../session/patch.ts";
import { resolveQueueSettings } from "../lanes/queue-settings.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { ChatCommand, CommandRequest } from "./chat-command.ts";
import { changeSession, currentEntry } from "./session-settings.ts";
import { counted, shown } from "./shown.ts";

export const queueCommand: ChatCommand = {
  name: "queue",
  usage: "/queue [mode] [debounce:1500] [cap:10] [drop:old]",
  summary: "what happens to messages that come during an answer",
  // In order it would wait in the very queue that it is to change.
  when: "now",
  needsAuthorization: true,
  run: async (request) => {
    const words = request.argument
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (words.length === 0) return { text: `${describe(request, await currentEntry(request))}\n${USAGE}` };

    const patch: SessionPatch = {};
    for (const word of words) {
      const change = readWord(word);
      if (change === undefined) return { text: `${notUnderstood(word)}\n${USAGE}` };
      Object.assign(patch, change);
    }
    return { text: describe(request, await changeSession(request, patch)) };
  },
};

const USAGE = [
  `Modes: ${QUEUE_MODES.join(", ")}; default: as configured.`,
  `debounce: milliseconds, or 2s. cap: how many may wait. drop: ${QUEUE_DROPS.join(", ")}.`,
].join("\n");

function describe(request: CommandRequest, entry: SessionEntry | undefined): string {
  const { mode, debounceMs, cap, drop } = queueOf(request, entry);
  return `Queue: ${MODE_MEANINGS[mode](debounceMs)}. At most ${cap} wait; then ${DROP_MEANINGS[drop]}.`;
}

export function queueOf({ parts }: CommandRequest, entry: SessionEntry | undefined): QueueConfig {
  return resolveQueueSettings(entry, parts.config.turns.queue);
}

/** For /status. */
export function queueLine(queue: QueueConfig, waiting: number): string {
  const settings = [queue.mode, ...(queue.mode === "collect" ? [`${queue.debounceMs} ms`] : []), `cap ${queue.cap}`];
  return `${counted(waiting, "message")} waiting; ${settings.join(", ")}, drop ${queue.drop}`;
}

const MODE_MEANINGS: Record<QueueConfig["mode"], (debounceMs: number) => string> = {
  steer: () => "steer (a message goes into the answer under way where that is possible, else it waits)",
  followup: () => "followup (each message waits for its turn)",
  collect: (ms) => `collect (messages are answered together, after ${ms} ms without another)`,
  interrupt: () => "interrupt (a message ends the answer under way)",
};

const DROP_MEANINGS: Record<QueueConfig["drop"], string> = {
  old: "the oldest is given up",
  new: "new ones are given up",
  summarize: "the oldest are shortened to a line each",
};

/** What one word changes; undefined when it cannot be understood. */
function readWord(word: string): SessionPatch | undefined {
  if (word === "default" || word === "reset") {
    return { queueMode: null, queueDebounceMs: null, queueCap: null, queueDrop: null };
  }
  if (QUEUE_MODES.some((mode) => mode === word)) return { queueMode: word };
  const [, name = "", value = ""] = /^(\w+)[:=](.+)$/.exec(word) ?? [];
  return Object.hasOwn(READERS, name) ? READERS[name]?.(value) : undefined;
}

const MAX_DEBOUNCE_MS = 600_000;
const MAX_CAP = 1000;

const READERS: Record<string, (value: string) => SessionPatch | undefined> = {
  debounce: (value) => {
    const [, digits = "", unit] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s)?$/.exec(value) ?? [];
    const queueDebounceMs = Math.round(Number(digits) * (unit === "s" ? 1000 : 1));
    return digits === "" || queueDebounceMs > MAX_DEBOUNCE_MS ? undefined : { queueDebounceMs };
  },
  cap: (value) => {
    const queueCap = /^\d{1,4}$/.test(value) ? Number(value) : 0;
    return queueCap < 1 || queueCap > MAX_CAP ? undefined : { queueCap };
  },
  drop: (value) => {
    const queueDrop = QUEUE_DROPS.find((drop) => drop === value);
    return queueDrop === undefined ? undefined : { queueDrop };
  },
};

function notUnderstood(word: string): string {
  const [name = "", value] = word.slice(0, 40).split(/[:=]/, 2);
  if (value !== undefined && Object.hasOwn(LIMITS, name)) return `${name}: ${LIMITS[name]}.`;
  const near = value === undefined ? closestMatch(name, [...QUEUE_MODES, "default"]) : undefined;
  const suggestion = near === undefined ? "" : ` Did you mean /queue ${near}?`;
  return `/queue does not know "${shown(word, 40)}".${suggestion}`;
}

const LIMITS: Record<string, string> = {
  debounce: `0 to ${MAX_DEBOUNCE_MS} milliseconds`,
  cap: `1 to ${MAX_CAP} messages`,
  drop: QUEUE_DROPS.join(" or "),
};
