/** The commands for the gateway, turns, channels and agents. Each loads its code when it runs. */
import { CHANNEL_NAMES, ENGINE_NAMES, THINKING_LEVELS } from "../config/choices.ts";
import { type Command, AGENT, amount, changes, choice, count, flag, list, reads, text } from "./command.ts";

const MESSAGE = { message: { ...text("text", "the message"), short: "m" } };

const ACCOUNT = { account: text("id", "the account (default: the only one, else `default`)") };

const LOCAL = { local: flag("answer in this process, without the gateway") };

export const GATEWAY_COMMANDS: readonly Command[] = [
  changes("gateway", "serve channels, the web page and the API until stopped", {
    options: {
      port: text("n", "loopback port; 0 picks a free one (default: 7433, or a free one if that is in use)"),
      noChannels: flag("do not connect to chat platforms"),
    },
    run: async (_, options) => await (await import("./commands/gateway.ts")).runGateway(options),
  }),
  reads("gateway status", "show whether the gateway is running, and where", {
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayStatus(options),
  }),
  reads("gateway link", "print the link that opens the web page and signs you in", {
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayLink(options),
  }),
  changes("gateway start", "start the gateway in the background, unless it is running", {
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).startInBackground(options),
  }),
  changes("gateway restart", "let running turns finish, then start again in the background with the same options", {
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).restartGateway(options),
  }),
  reads("gateway logs", "show the end of the gateway's log", {
    options: {
      lines: { ...count("n", "how many lines (default: 50)"), short: "n" },
      follow: { ...flag("keep printing new lines"), short: "f" },
    },
    run: async (_, options) => await (await import("./commands/gateway-log.ts")).showLogs(options),
  }),
  changes("gateway stop", "let running turns finish and stop the gateway", {
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).stopGateway(options),
  }),
  changes("agent", "send a message to an agent and print its answer", {
    options: {
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
  changes("chat", "talk to an agent in the terminal, or line by line from stdin", {
    json: false,
    options: {
      ...AGENT,
      session: text("session", "continue this session instead of your own"),
      ...LOCAL,
    },
    run: async (_, options) => await (await import("./commands/chat.ts")).chat(options),
  }),
  reads("status", "show agents, sessions, channels and the gateway at a glance", {
    options: {
      all: flag("all sessions, usage and health"),
      usage: flag("tokens and costs of each agent's sessions"),
      deep: flag("ask the gateway about its channels, turns and memory"),
    },
    run: async (_, options) => await (await import("./commands/status.ts")).status(options),
  }),
  reads("ps", "show what is running now: the gateway, turns, Claude Code sessions", {
    run: async (_, options) => await (await import("./commands/ps.ts")).ps(options),
  }),
  reads("health", "check the gateway; exit code 5 if something is wrong", {
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).health(options),
  }),
  changes("message send", "send a message through a channel, without an agent", {
    options: {
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
  reads("agents list", "list agents with their models, workspaces and channels", {
    run: async (_, options) => await (await import("./commands/agents.ts")).listAgents(options),
  }),
  changes("agents add <id>", "add an agent with its own workspace", {
    options: {
      name: text("name", "its display name"),
      model: text("provider/model", "the model that answers"),
      engine: choice("name", ENGINE_NAMES, "claude-code, model or echo"),
      workspace: text("path", "the folder it works in (default: a new one)"),
    },
    run: async ([id = ""], options) => await (await import("./commands/agents.ts")).addAgent(id, options),
  }),
  reads("channels status", "show the configured accounts and their state", {
    run: async (_, options) => await (await import("./commands/channels.ts")).channelsStatus(options),
  }),
  changes("channels login", "link an account by scanning a code (WhatsApp)", {
    options: { channel: choice("name", CHANNEL_NAMES, "the channel (default: whatsapp)"), ...ACCOUNT },
    run: async (_, options) => await (await import("./commands/channels.ts")).login(options),
  }),
  reads("channels pending", "list people who wait for approval", {
    options: { channel: choice("name", CHANNEL_NAMES, "only this channel") },
    run: async (_, options) => await (await import("./commands/channels.ts")).pending(options),
  }),
  changes("channels approve <channel> <code>", "approve the person with this code", {
    options: ACCOUNT,
    run: async ([channel = "", code = ""], options) =>
      await (await import("./commands/channels.ts")).approve(channel, code, options),
  }),
  changes("channels revoke <channel> <id>", "remove a person who was approved with a code", {
    options: ACCOUNT,
    run: async ([channel = "", id = ""], options) =>
      await (await import("./commands/channels.ts")).revoke(channel, id, options),
  }),
  reads("completion <shell>", "print a script that completes commands, for bash, zsh or fish", {
    json: false,
    run: async ([shell = ""]) => await (await import("./complete.ts")).printCompletion(shell),
  }),
];
