/** `holdfast channels status`: what is configured, and what the gateway says about it. */
import { configuredAccounts } from "../../compose-channels.ts";
import { type ChannelRow, channelLabel } from "../channel-view.ts";
import { type Setup, loadSetup } from "../context.ts";
import { printJson, printTable, talk } from "../output.ts";
import { findRunningGateway } from "../rpc/gateway-client.ts";

export async function channelsStatus(options: { json?: boolean }): Promise<void> {
  const setup = await loadSetup();
  const gateway = await findRunningGateway(setup);
  const channels = gateway === undefined ? idleRows(setup) : (await gateway.call("channels.status", {})).channels;
  const running = gateway !== undefined;
  if (options.json === true) return printJson({ schema: 1, running, count: channels.length, channels });
  if (!running) talk("No gateway runs: `holdfast gateway` connects the channels.");
  if (channels.length === 0) {
    talk("No channel is configured, e.g.: holdfast config set channels.telegram.default.allowFrom '[\"@you\"]'");
    return;
  }
  printTable(
    [{ title: "CHANNEL" }, { title: "ACCOUNT" }, { title: "AGENT" }, { title: "STATE" }, { title: "", flexible: true }],
    channels.map((row) => [
      channelLabel(row.channel),
      row.accountId,
      row.agentId ?? "",
      row.status.state,
      row.status.text,
    ]),
  );
}

function idleRows({ config }: Setup): ChannelRow[] {
  return configuredAccounts(config).map(({ name, accountId, settings }) => ({
    channel: name,
    accountId,
    agentId: settings.agent ?? config.defaultAgent,
    status: { state: "stopped", text: "no gateway runs" },
  }));
}
