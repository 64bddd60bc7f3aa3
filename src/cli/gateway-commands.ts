/** The commands around the gateway: turns, channels, agents. The code behind a command is loaded when it is called. */
import { type Command, type OptionSpecs, defineCommand } from "./command.ts";
import { AGENT, JSON_OUTPUT } from "./common-options.ts";

const MESSAGE = {
  message: { type: "text", value: "text", short: "m", description: "what to say" },
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
    summary: "serve channels, the page and the API until it is told to stop",
    options: {
      ...JSON_OUTPUT,
      port: { type: "text", value: "n", description: "on the loopback interface; 0: any free one (default: 7433)" },
      noChannels: { type: "flag", description: "do not connect to chat platforms" },
    },
    run: async (_, options) => await (await import("./commands/gateway.ts")).runGateway(options),
  }),
  defineCommand({
    name: "gateway status",
    summary: "whether a gateway runs, and where",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayStatus(options),
  }),
  defineCommand({
    name: "gateway link",
    summary: "print the link that opens the page and signs you in",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).gatewayLink(options),
  }),
  defineCommand({
    name: "gateway stop",
    summary: "let running turns end and stop the gateway",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/gateway-control.ts")).stopGateway(options),
  }),
  defineCommand({
    name: "agent",
    summary: "say something to an agent and print its answer",
    options: {
      ...JSON_OUTPUT,
      ...MESSAGE,
      to: { type: "text", value: "whom", short: "t", description: "the session of this person, group or number" },
      sessionId: { type: "text", value: "id", description: "this session: its id, key or label" },
      ...AGENT,
      thinking: { type: "text", value: "level", description: "off, minimal, low, medium, high or xhigh" },
      deliver: { type: "flag", description: "send the answer to the person as well" },
      channel: { type: "text", value: "name", description: "where the person is (default: where they wrote last)" },
      ...LOCAL,
      timeout: { type: "text", value: "seconds", description: "how long to wait for the answer (default: 600)" },
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
    summary: "agents, sessions, channels and the gateway at a glance",
    options: {
      ...JSON_OUTPUT,
      all: { type: "flag", description: "every session and everything the other options show" },
      usage: { type: "flag", description: "tokens and costs of each agent's sessions" },
      deep: { type: "flag", description: "ask the gateway about its channels, turns and memory" },
    },
    run: async (_, options) => await (await import("./commands/status.ts")).status(options),
  }),
  defineCommand({
    name: "health",
    summary: "ask the gateway how it is; exit code 5 when something is wrong",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/health.ts")).health(options),
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
      media: { type: "list", value: "path", description: "a file or address to send along; may be repeated" },
      replyTo: { type: "text", value: "id", description: "the message that it answers" },
      threadId: { type: "text", value: "id", description: "the thread or topic" },
    },
    run: async (_, options) => await (await import("./commands/message.ts")).sendMessage(options),
  }),
  defineCommand({
    name: "agents list",
    summary: "the agents with their models, workspaces and channels",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/agents.ts")).listAgents(options),
  }),
  defineCommand({
    name: "agents add",
    arguments: ["<id>"],
    summary: "a new agent, with a workspace of its own",
    options: {
      ...JSON_OUTPUT,
      name: { type: "text", description: "what people call it" },
      model: { type: "text", value: "provider/model", description: "the model that answers" },
      engine: { type: "text", value: "name", description: "claude-code, model or echo" },
      workspace: { type: "text", value: "path", description: "the folder it works in (default: one of its own)" },
    },
    run: async ([id = ""], options) => await (await import("./commands/agents.ts")).addAgent(id, options),
  }),
  defineCommand({
    name: "channels status",
    summary: "the accounts that are configured and how they are",
    options: JSON_OUTPUT,
    run: async (_, options) => await (await import("./commands/channels.ts")).channelsStatus(options),
  }),
  defineCommand({
    name: "channels login",
    summary: "link an account by a code to be scanned (WhatsApp)",
    options: {
      ...JSON_OUTPUT,
      channel: { type: "text", value: "name", description: "the channel (default: whatsapp)" },
      ...ACCOUNT,
    },
    run: async (_, options) => await (await import("./commands/channels-login.ts")).login(options),
  }),
  defineCommand({
    name: "channels pending",
    summary: "strangers who were given a code and wait for you",
    options: { ...JSON_OUTPUT, channel: { type: "text", value: "name", description: "only this channel" } },
    run: async (_, options) => await (await import("./commands/pairing.ts")).pending(options),
  }),
  defineCommand({
    name: "channels approve",
    arguments: ["<channel>", "<code>"],
    summary: "let in the person who was given this code",
    options: { ...JSON_OUTPUT, ...ACCOUNT },
    run: async ([channel = "", code = ""], options) =>
      await (await import("./commands/pairing.ts")).approve(channel, code, options),
  }),
  defineCommand({
    name: "channels revoke",
    arguments: ["<channel>", "<id>"],
    summary: "shut out a person who was let in by a code",
    options: { ...JSON_OUTPUT, ...ACCOUNT },
    run: async ([channel = "", id = ""], options) =>
      await (await import("./commands/pairing.ts")).revoke(channel, id, options),
  }),
  defineCommand({
    name: "completion",
    arguments: ["<shell>"],
    summary: "print a script that completes commands, for bash, zsh or fish",
    run: async ([shell = ""]) => await (await import("./commands/completion.ts")).printCompletion(shell),
  }),
];
