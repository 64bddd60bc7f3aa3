/** The commands for the gateway, turns, channels and agents. Each loads its code when it runs. */
import { CHANNEL_NAMES, ENGINE_NAMES, THINKING_LEVELS } from "../config/choices.ts";
import {
  type Command,
  AGENT,
  JSON_OUTPUT,
  amount,
  changes,
  choice,
  count,
  flag,
  list,
  reads,
  text,
} from "./command.ts";

const MESSAGE = {
  message: { ...text("text", "the message"), short: "m" },
};

const ACCOUNT = {
  account: text("id", "the account (default: the only one, else `default`)"),
};

const LOCAL = {
  local: flag("answer in this process, without the gateway"),
};

export const GATEWAY_COMMANDS: readonly Command[] = [
  changes("gateway", {
    summary: "serve channels, the web page and the API until stopped",
    options: {
      ...JSON_OUTPUT,
      port: text("n", "loopback port; 0 picks a free one (default: 7433, or a free one if that is in use)"),
      noChannels: flag("do not connect to chat platforms"),
    },
    run: async (_, options) => await (await import("./commands/gateway.ts")).runGateway(options),
  }),
  reads("gateway status", {
    summary: "show whether the gateway is running, and where",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayStatus(options),
  }),
  reads("gateway link", {
    summary: "print the link that opens the web page and signs you in",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayLink(options),
  }),
  changes("gateway start", {
    summary: "start the gateway in the background, unless it is running",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).startInBackground(options),
  }),
  changes("gateway restart", {
    summary: "let running turns finish, then start again in the background with the same options",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).restartGateway(options),
  }),
  reads("gateway logs", {
    summary: "show the end of the gateway's log",
    options: {
      ...JSON_OUTPUT,
      lines: { ...count("n", "how many lines (default: 50)"), short: "n" },
      follow: { ...flag("keep printing new lines"), short: "f" },
    },
    run: async (_, options) => await (await import("./commands/gateway-log.ts")).showLogs(options),
  }),
  changes("gateway stop", {
    summary: "let running turns finish and stop the gateway",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).stopGateway(options),
  }),
  changes("agent", {
    summary: "send a message to an agent and print its answer",
    options: {
      ...JSON_OUTPUT,
      ...MESSAGE,
      to: { ...text("whom", "the session with this person, group or number"), short: "t" },
      sessionId: text("id", "the session with this id, key or label; a new UUID begins one"),
      ...AGENT,
      thinking: choice("level", THINKING_LEVELS, "off, minimal, low, medium, high or xhigh"),
      deliver: flag("also send the answer to the person"),
      channel: text("name", "the channel of the person (default: the only configured channel)"),
      ...LOCAL,
      timeout: amount("seconds", "how long to wait for the answer (default: 600)"),
    },
    run: async (_, options) => await (await import("./commands/agent.ts")).agent(options),
  }),
  changes("chat", {
    summary: "talk to an agent in the terminal, or line by line from stdin",
    options: {
      ...AGENT,
      session: text("session", "continue this session instead of your own"),
      ...LOCAL,
    },
    run: async (_, options) => await (await import("./commands/chat.ts")).chat(options),
  }),
  reads("status", {
    summary: "show agents, sessions, channels and the gateway at a glance",
    options: {
      ...JSON_OUTPUT,
      all: flag("all sessions, usage and health"),
      usage: flag("tokens and costs of each agent's sessions"),
      deep: flag("ask the gateway about its channels, turns and memory"),
    },
    run: async (_, options) => await (await import("./commands/status.ts")).status(options),
  }),
  reads("ps", {
    summary: "show what is running now: the gateway, turns, Claude Code sessions",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/ps.ts")).ps(options),
  }),
  reads("health", {
    summary: "check the gateway; exit code 5 if something is wrong",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).health(options),
  }),
  changes("message send", {
    summary: "send a message through a channel, without an agent",
    options: {
      ...JSON_OUTPUT,
      channel: text("name", "telegram, discord or whatsapp"),
      ...ACCOUNT,
      target: { ...text("whom", "the chat, person or number on that channel"), short: "t" },
      ...MESSAGE,
      media: list("path", "a file or address to attach; may be repeated"),
      replyTo: text("id", "the message to reply to"),
      threadId: text("id", "the thread or topic"),
    },
    run: async (_, options) => await (await import("./commands/message.ts")).sendMessage(options),
  }),
  reads("agents list", {
    summary: "list agents with their models, workspaces and channels",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/agents.ts")).listAgents(options),
  }),
  changes("agents add <id>", {
    summary: "add an agent with its own workspace",
    options: {
      ...JSON_OUTPUT,
      name: text("name", "its display name"),
      model: text("provider/model", "the model that answers"),
      engine: choice("name", ENGINE_NAMES, "claude-code, model or echo"),
      workspace: text("path", "the folder it works in (default: a new one)"),
    },
    run: async ([id = ""], options) => await (await import("./commands/agents.ts")).addAgent(id, options),
  }),
  reads("channels status", {
    summary: "show the configured accounts and their state",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/channels.ts")).channelsStatus(options),
  }),
  changes("channels login", {
    summary: "link an account by scanning a code (WhatsApp)",
    options: {
      ...JSON_OUTPUT,
      channel: choice("name", CHANNEL_NAMES, "the channel (default: whatsapp)"),
      ...ACCOUNT,
    },
    run: async (_, options) => await (await import("./commands/channels.ts")).login(options),
  }),
  reads("channels pending", {
    summary: "list people who wait for approval",
    options: {
      ...JSON_OUTPUT,
      channel: choice("name", CHANNEL_NAMES, "only this channel"),
    },
    run: async (_, options) => await (await import("./commands/channels.ts")).pending(options),
  }),
  changes("channels approve <channel> <code>", {
    summary: "approve the person with this code",
    options: { ...JSON_OUTPUT, ...ACCOUNT },
    run: async ([channel = "", code = ""], options) =>
      await (await import("./commands/channels.ts")).approve(channel, code, options),
  }),
  changes("channels revoke <channel> <id>", {
    summary: "remove a person who was approved with a code",
    options: { ...JSON_OUTPUT, ...ACCOUNT },
    run: async ([channel = "", id = ""], options) =>
      await (await import("./commands/channels.ts")).revoke(channel, id, options),
  }),
  reads("completion <shell>", {
    summary: "print a script that completes commands, for bash, zsh or fish",
    run: async ([shell = ""]) => await (await import("./complete.ts")).printCompletion(shell),
  }),
];
