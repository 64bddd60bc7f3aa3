/** `holdfast channels status`: what is configured, and what the gateway says about it. */
import { channelLabel } from "../channel-view.ts";
import { loadSetup } from "../context.ts";
import { idleAccounts, withIdleAccounts } from "../idle-accounts.ts";
import { printJson, printTable, talk } from "../output.ts";
import { findRunningGateway } from "../rpc/gateway-client.ts";

export async function channelsStatus(options: { json?: boolean }): Promise<void> {
  const setup = await loadSetup();
  const gateway = await findRunningGateway(setup);
  const channels =
    gateway === undefined
      ? idleAccounts(setup.config, "no gateway runs")
      : withIdleAccounts((await gateway.call("channels.status", {})).channels, setup.config);
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
