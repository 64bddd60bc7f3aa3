/** How commands show channel accounts, including accounts that the running gateway does not know yet. */
import type { ChannelStatus } from "../channels/channel.ts";
import { type HoldfastConfig, configuredAccounts } from "../config/config.ts";
import { findGateway } from "../gateway/gateway-files.ts";
import type { ResultOf } from "../rpc/contract.ts";
import { style, talk } from "./output.ts";

export type ChannelRow = ResultOf<"channels.status">["channels"][number];

const LABELS: Readonly<Record<string, string>> = {
  telegram: "Telegram",
  discord: "Discord",
  whatsapp: "WhatsApp",
  web: "Web",
};

export function channelLabel(name: string): string {
  return LABELS[name] ?? name;
}

/** `Telegram (work): connected`. Some status texts already start with the channel's name. */
export function channelLine({ channel, accountId, status }: Omit<ChannelRow, "agentId">): string {
  const label = channelLabel(channel);
  const text = status.text.startsWith(`${label}: `) ? status.text.slice(label.length + 2) : status.text;
  return `${label}${accountId === "default" ? "" : ` (${accountId})`}: ${text}`;
}

/** A gateway's problem repeats the status text of its channel or agent: only one of them is shown. */
export function isRepeated(text: string | undefined, problems: readonly string[]): boolean {
  return text !== undefined && problems.some((problem) => problem.endsWith(`: ${text}`));
}

/** By channel, then by account. Omits login codes: they give access to the account. */
export function toChannelRecord(rows: readonly ChannelRow[]): Record<string, object> {
  const grouped = Map.groupBy(rows, ({ channel }) => channel);
  return Object.fromEntries(
    [...grouped].map(([name, accounts]) => [
      name,
      {
        configured: true,
        running: accounts.some(({ status }) => status.state === "connected"),
        accounts: Object.fromEntries(
          accounts.map(({ accountId, agentId, status: { state, text } }) => [accountId, { agentId, state, text }]),
        ),
      },
    ]),
  );
}

export function stateMark({ state }: ChannelStatus): string {
  if (state === "connected") return style("green", "●");
  if (state === "failed") return style("red", "✗");
  return state === "stopped" ? style("dim", "○") : style("yellow", "…");
}

/** All configured accounts; `text` says why they do not run. */
export function idleAccounts(config: HoldfastConfig, text: string): ChannelRow[] {
  return configuredAccounts(config).map(({ name, accountId, settings }) => ({
    channel: name,
    accountId,
    agentId: settings.agent ?? config.defaultAgent,
    status: { state: "stopped", text },
  }));
}

/** The gateway's accounts, then accounts configured after it started. */
export function withIdleAccounts(running: readonly ChannelRow[], config: HoldfastConfig): ChannelRow[] {
  const idle = idleAccounts(config, "configured after the gateway started; run `holdfast gateway restart`");
  const isRunning = ({ channel, accountId }: ChannelRow): boolean =>
    running.some((row) => row.channel === channel && row.accountId === accountId);
  return [...running, ...idle.filter((row) => !isRunning(row))];
}

/** A running gateway keeps the configuration that it was started with. */
export async function suggestRestart(home: string): Promise<void> {
  const gateway = await findGateway(home);
  if (gateway === undefined) return;
  talk(
    `The gateway at ${gateway.url} still uses the configuration it was started with. ` +
      "To apply the new one: holdfast gateway restart",
  );
}

/** Half blocks, two rows a line. Black on white with colours; without, for light text on a dark background. */
export async function renderQrCode(text: string): Promise<string> {
  const { default: qrcode } = await import("qrcode");
  const isColoured = style("bold", "x") !== "x";
  const color = isColoured ? {} : { dark: "#ffffff", light: "#000000" };
  const code = await qrcode.toString(text, { type: "utf8", errorCorrectionLevel: "L", margin: 2, color });
  const lines = code.split("\n");
  return lines.map((line) => (isColoured ? style(["black", "bgWhiteBright"], line) : line)).join("\n");
}
