/** How commands show channel accounts. */
import type { ChannelStatus } from "../channels/channel.ts";
import { style } from "./output.ts";

export interface ChannelRow {
  channel: string;
  accountId: string;
  /** Left out for an account that could not be built. */
  agentId?: string;
  status: ChannelStatus;
}

const LABELS: Readonly<Record<string, string>> = {
  telegram: "Telegram",
  discord: "Discord",
  whatsapp: "WhatsApp",
  web: "Web",
};

export function channelLabel(name: string): string {
  return LABELS[name] ?? name;
}

/** `Telegram (work): connected`. What a channel says of itself may begin with its name already. */
export function channelLine({ channel, accountId, status }: Omit<ChannelRow, "agentId">): string {
  const label = channelLabel(channel);
  const text = status.text.startsWith(`${label}: `) ? status.text.slice(label.length + 2) : status.text;
  return `${label}${accountId === "default" ? "" : ` (${accountId})`}: ${text}`;
}

/** Problems of channels and agents end with what those say themselves: one of both is enough. */
export function isTold(text: string | undefined, problems: readonly string[]): boolean {
  return text !== undefined && problems.some((problem) => problem.endsWith(`: ${text}`));
}

/** By channel, then by account. A code that is to be scanned logs whoever has it in: it stays out. */
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
