/** Commands that show or change one setting of the session: /think, /verbose, /usage, /send, /activation, /queue … */
import { QUEUE_DROPS, QUEUE_MODES, THINKING_LEVELS } from "../../config/choices.ts";
import type { QueueConfig } from "../../config/config.ts";
import { isGroupMessage } from "../../keys/group.ts";
import type { SessionPatch } from "../../session/patch.ts";
import { resolveSendPolicy } from "../../session/send-policy.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { resolveQueueSettings } from "../lanes/queue.ts";
import { type CommandSpec, type CommandRequest, changeSession, currentEntry, shown, counted } from "./command.ts";
import { closestMatch } from "../../base/text.ts";

interface Setting {
  name: string;
  summary: string;
  words: Readonly<Record<string, SessionPatch>>;
  /** The state as one sentence. There is no entry before the first message. */
  describe(request: CommandRequest, entry: SessionEntry | undefined): string;
  /** Why it cannot be set here. Optional. */
  refuse?(request: CommandRequest, entry: SessionEntry | undefined): string | undefined;
}

/** Sets one thing to one of a few words, and shows it when no word is given. */
function settingCommand(setting: Setting): CommandSpec {
  const { name, summary, words } = setting;
  const choices = Object.keys(words).join("|");
  return {
    usage: `/${name} [${choices}]`,
    summary,
    when: "in-order",
    run: async (request) => {
      const entry = await currentEntry(request);
      const refusal = setting.refuse?.(request, entry);
      if (refusal !== undefined) return refusal;
      const word = request.argument.toLowerCase();
      if (word === "") return `${setting.describe(request, entry)}\nChange it with /${name} ${choices}`;

      const patch = Object.hasOwn(words, word) ? words[word] : undefined;
      if (patch === undefined) return unknownWord(setting, word);
      return setting.describe(request, await changeSession(request, patch));
    },
  };
}

function unknownWord({ name, words }: Setting, word: string): string {
  const near = word.length > MAX_WORD ? undefined : closestMatch(word, Object.keys(words));
  const suggestion = near === undefined ? "" : ` Did you mean /${name} ${near}?`;
  return `/${name} does not know "${shown(word, MAX_WORD)}".${suggestion} It takes ${Object.keys(words).join(", ")}.`;
}

const MAX_WORD = 40;

export const thinkCommand = settingCommand({
  name: "think",
  summary: "how long to think before an answer",
  words: {
    ...Object.fromEntries(THINKING_LEVELS.map((thinkingLevel) => [thinkingLevel, { thinkingLevel }])),
    default: { thinkingLevel: null },
  },
  describe: (_request, entry) => `Thinking: ${thinkingOf(entry)}.`,
});

export function thinkingOf(entry: SessionEntry | undefined): string {
  return entry?.thinkingLevel === undefined ? "model default" : shown(entry.thinkingLevel, 20);
}

export const verboseCommand = settingCommand({
  name: "verbose",
  summary: "whether to show which tools are used",
  words: { on: { verboseLevel: "on" }, off: { verboseLevel: "off" } },
  describe: (_request, entry) => `Verbose: ${verboseOf(entry)}.`,
});

export function verboseOf(entry: SessionEntry | undefined): string {
  return shown(entry?.verboseLevel ?? "off", 20);
}

export const reasoningCommand = settingCommand({
  name: "reasoning",
  summary: "whether to show the model's thinking before an answer",
  words: { on: { reasoningLevel: "on" }, off: { reasoningLevel: "off" } },
  describe: (_request, entry) => `Reasoning: ${shown(entry?.reasoningLevel ?? "off", 20)}.`,
});

export const usageCommand = settingCommand({
  name: "usage",
  summary: "whether answers end with their tokens; full: also cost and model",
  words: {
    on: { responseUsage: "on" },
    tokens: { responseUsage: "tokens" },
    full: { responseUsage: "full" },
    off: { responseUsage: "off" },
  },
  describe: (_request, entry) => `Usage line: ${entry?.responseUsage ?? "off"}.`,
});

export const sendCommand = settingCommand({
  name: "send",
  summary: "whether answers are sent here; inherit: as configured",
  words: { on: { sendPolicy: "allow" }, off: { sendPolicy: "deny" }, inherit: { sendPolicy: null } },
  describe: (request, entry) => `Answers here: ${sendingOf(request, entry)}.`,
});

export function sendingOf({ parts, sessionKey, ctx }: CommandRequest, entry: SessionEntry | undefined): string {
  const { Provider: channel, ChatType: chatType } = ctx;
  const policy = resolveSendPolicy({ cfg: parts.config, sessionKey, entry, channel, chatType });
  const state = policy === "allow" ? "on" : "off";
  return entry?.sendPolicy === undefined ? `${state} (as configured)` : state;
}

export const activationCommand = settingCommand({
  name: "activation",
  summary: "in a group: answer when mentioned, or always",
  words: { mention: { groupActivation: "mention" }, always: { groupActivation: "always" } },
  describe: (request, entry) =>
    activationOf(request, entry) === "always"
      ? "I answer every message in this group."
      : "I answer in this group when I am mentioned or replied to.",
  refuse: (request, entry) =>
    isGroup(request, entry) ? undefined : "/activation is for groups. In a direct chat, every message is answered.",
});

export function activationOf({ parts }: Pick<CommandRequest, "parts">, entry: SessionEntry | undefined) {
  return entry?.groupActivation ?? parts.config.groups.activation;
}

export function isGroup({ ctx }: CommandRequest, entry: SessionEntry | undefined): boolean {
  return isGroupMessage(ctx) || entry?.chatType === "group" || entry?.chatType === "channel";
}

export const queueCommand: CommandSpec = {
  usage: "/queue [mode] [debounce:1500] [cap:10] [drop:old]",
  summary: "what happens to messages that arrive during an answer",
  // In order, it would wait in the queue that it changes.
  when: "now",
  run: async (request) => {
    const words = request.argument
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (words.length === 0) return `${describeQueue(request, await currentEntry(request))}\n${USAGE}`;

    const patch: SessionPatch = {};
    for (const word of words) {
      const change = readWord(word);
      if (change === undefined) return `${unknownQueueWord(word)}\n${USAGE}`;
      Object.assign(patch, change);
    }
    return describeQueue(request, await changeSession(request, patch));
  },
};

const USAGE = [
  `Modes: ${QUEUE_MODES.join(", ")}; default: the configured mode.`,
  `debounce: milliseconds, or 2s. cap: how many may wait. drop: ${QUEUE_DROPS.join(", ")}.`,
].join("\n");

function describeQueue(request: CommandRequest, entry: SessionEntry | undefined): string {
  const { mode, debounceMs, cap, drop } = queueOf(request, entry);
  return `Queue: ${MODE_MEANINGS[mode](debounceMs)}. At most ${cap} wait; then ${DROP_MEANINGS[drop]}.`;
}

export function queueOf({ parts }: CommandRequest, entry: SessionEntry | undefined): QueueConfig {
  return resolveQueueSettings(entry, parts.config.turns.queue);
}

export function queueLine(queue: QueueConfig, waiting: number): string {
  const settings = [queue.mode, ...(queue.mode === "collect" ? [`${queue.debounceMs} ms`] : []), `cap ${queue.cap}`];
  return `${counted(waiting, "message")} waiting; ${settings.join(", ")}, drop ${queue.drop}`;
}

const MODE_MEANINGS: Record<QueueConfig["mode"], (debounceMs: number) => string> = {
  steer: () => "steer (a message joins the current answer if possible, else it waits)",
  followup: () => "followup (each message waits for its turn)",
  collect: (ms) => `collect (messages are answered together after ${ms} ms without a new one)`,
  interrupt: () => "interrupt (a message stops the current answer)",
};

const DROP_MEANINGS: Record<QueueConfig["drop"], string> = {
  old: "the oldest is dropped",
  new: "new ones are dropped",
  summarize: "the oldest are dropped and summarized in a line each",
};

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

function unknownQueueWord(word: string): string {
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
