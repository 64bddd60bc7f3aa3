/** The commands for the gateway, turns, channels and agents. Each loads its code when it runs. */
import { CHANNEL_NAMES, ENGINE_NAMES } from "../config/choices.ts";
import { type Command, type OptionSpecs, defineCommand, AGENT, JSON_OUTPUT } from "./command.ts";

const MESSAGE = {
  message: { type: "text", value: "text", short: "m", description: "the message" },
} as const satisfies OptionSpecs;

const ACCOUNT = {
  account: { type: "text", value: "id", description: "the account (default: the only one, else `default`)" },
} as const satisfies OptionSpecs;

const LOCAL = {
  local: { type: "flag", description: "answer in this process, without the gateway" },
} as const satisfies OptionSpecs;

export const GATEWAY_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "gateway",
    summary: "serve channels, the web page and the API until stopped",
    options: {
      ...JSON_OUTPUT,
      port: {
        type: "text",
        value: "n",
        description: "loopback port; 0 picks a free one (default: 7433, or a free one if that is in use)",
      },
      noChannels: { type: "flag", description: "do not connect to chat platforms" },
    },
    run: async (_, options) => await (await import("./commands/gateway.ts")).runGateway(options),
  }),
  defineCommand({
    name: "gateway status",
    onlyReads: true,
    summary: "show whether the gateway is running, and where",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayStatus(options),
  }),
  defineCommand({
    name: "gateway link",
    onlyReads: true,
    summary: "print the link that opens the web page and signs you in",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayLink(options),
  }),
  defineCommand({
    name: "gateway start",
    summary: "start the gateway in the background, unless it is running",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).startInBackground(options),
  }),
  defineCommand({
    name: "gateway restart",
    summary: "let running turns finish, then start again in the background with the same options",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).restartGateway(options),
  }),
  defineCommand({
    name: "gateway logs",
    onlyReads: true,
    summary: "show the end of the gateway's log",
    options: {
      ...JSON_OUTPUT,
      lines: { type: "count", value: "n", short: "n", description: "how many lines (default: 50)" },
      follow: { type: "flag", short: "f", description: "keep printing new lines" },
    },
    run: async (_, options) => await (await import("./commands/gateway-log.ts")).showLogs(options),
  }),
  defineCommand({
    name: "gateway stop",
    summary: "let running turns finish and stop the gateway",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).stopGateway(options),
  }),
  defineCommand({
    name: "agent",
    summary: "send a message to an agent and print its answer",
    options: {
      ...JSON_OUTPUT,
      ...MESSAGE,
      to: { type: "text", value: "whom", short: "t", description: "the session with this person, group or number" },
      sessionId: { type: "text", value: "id", description: "the session with this id, key or label" },
      ...AGENT,
      thinking: {
        type: "text",
        value: "level",
        choices: ["off", "minimal", "low", "medium", "high", "xhigh"],
        description: "off, minimal, low, medium, high or xhigh",
      },
      deliver: { type: "flag", description: "also send the answer to the person" },
      channel: {
        type: "text",
        value: "name",
        description: "the channel of the person (default: where they wrote last)",
      },
      ...LOCAL,
      timeout: { type: "amount", value: "seconds", description: "how long to wait for the answer (default: 600)" },
    },
    run: async (_, options) => await (await import("./commands/agent.ts")).agent(options),
  }),
  defineCommand({
    name: "chat",
    summary: "talk to an agent in the terminal, or line by line from stdin",
    options: {
      ...AGENT,
      session: { type: "text", description: "continue this session instead of your own" },
      ...LOCAL,
    },
    run: async (_, options) => await (await import("./commands/chat.ts")).chat(options),
  }),
  defineCommand({
    name: "status",
    onlyReads: true,
    summary: "show agents, sessions, channels and the gateway at a glance",
    options: {
      ...JSON_OUTPUT,
      all: { type: "flag", description: "all sessions, usage and health" },
      usage: { type: "flag", description: "tokens and costs of each agent's sessions" },
      deep: { type: "flag", description: "ask the gateway about its channels, turns and memory" },
    },
    run: async (_, options) => await (await import("./commands/status.ts")).status(options),
  }),
  defineCommand({
    name: "ps",
    onlyReads: true,
    summary: "show what is running now: the gateway, turns, Claude Code sessions",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/ps.ts")).ps(options),
  }),
  defineCommand({
    name: "health",
    onlyReads: true,
    summary: "check the gateway; exit code 5 if something is wrong",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).health(options),
  }),
  defineCommand({
    name: "message send",
    summary: "send a message through a channel, without an agent",
    options: {
      ...JSON_OUTPUT,
      channel: { type: "text", value: "name", description: "telegram, discord or whatsapp" },
      ...ACCOUNT,
      target: { type: "text", value: "whom", short: "t", description: "the chat, person or number on that channel" },
      ...MESSAGE,
      media: { type: "list", value: "path", description: "a file or address to attach; may be repeated" },
      replyTo: { type: "text", value: "id", description: "the message to reply to" },
      threadId: { type: "text", value: "id", description: "the thread or topic" },
    },
    run: async (_, options) => await (await import("./commands/message.ts")).sendMessage(options),
  }),
  defineCommand({
    name: "agents list",
    onlyReads: true,
    summary: "list agents with their models, workspaces and channels",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/agents.ts")).listAgents(options),
  }),
  defineCommand({
    name: "agents add",
    arguments: ["<id>"],
    summary: "add an agent with its own workspace",
    options: {
      ...JSON_OUTPUT,
      name: { type: "text", description: "its display name" },
      model: { type: "text", value: "provider/model", description: "the model that answers" },
      engine: {
        type: "text",
        value: "name",
        choices: ENGINE_NAMES,
        description: "claude-code, model or echo",
      },
      workspace: { type: "text", value: "path", description: "the folder it works in (default: a new one)" },
    },
    run: async ([id = ""], options) => await (await import("./commands/agents.ts")).addAgent(id, options),
  }),
  defineCommand({
    name: "channels status",
    onlyReads: true,
    summary: "show the configured accounts and their state",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/channels.ts")).channelsStatus(options),
  }),
  defineCommand({
    name: "channels login",
    summary: "link an account by scanning a code (WhatsApp)",
    options: {
      ...JSON_OUTPUT,
      channel: { type: "text", value: "name", choices: CHANNEL_NAMES, description: "the channel (default: whatsapp)" },
      ...ACCOUNT,
    },
    run: async (_, options) => await (await import("./commands/channels.ts")).login(options),
  }),
  defineCommand({
    name: "channels pending",
    onlyReads: true,
    summary: "list people who wait for approval",
    options: {
      ...JSON_OUTPUT,
      channel: { type: "text", value: "name", choices: CHANNEL_NAMES, description: "only this channel" },
    },
    run: async (_, options) => await (await import("./commands/channels.ts")).pending(options),
  }),
  defineCommand({
    name: "channels approve",
    arguments: ["<channel>", "<code>"],
    summary: "approve the person with this code",
    options: { ...JSON_OUTPUT, ...ACCOUNT },
    run: async ([channel = "", code = ""], options) =>
      await (await import("./commands/channels.ts")).approve(channel, code, options),
  }),
  defineCommand({
    name: "channels revoke",
    arguments: ["<channel>", "<id>"],
    summary: "remove a person who was approved with a code",
    options: { ...JSON_OUTPUT, ...ACCOUNT },
    run: async ([channel = "", id = ""], options) =>
      await (await import("./commands/channels.ts")).revoke(channel, id, options),
  }),
  defineCommand({
    name: "completion",
    onlyReads: true,
    arguments: ["<shell>"],
    summary: "print a script that completes commands, for bash, zsh or fish",
    run: async ([shell = ""]) => await (await import("./completion/scripts.ts")).printCompletion(shell),
  }),
];
