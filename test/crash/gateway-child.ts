/**
 * A gateway with a Telegram account that kills itself at a named step. Its one argument is a
 * GatewayChildTask as JSON; it prints a line once its channel is connected.
 */
import { flushCompileCache } from "node:module";
import { installFaultAction } from "../../src/base/faults.ts";
import { createLogger } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { GatewayChildTask } from "./gateway-rounds.ts";
import { openGateway } from "../../src/compose/turns.ts";

const { home, dieAt } = JSON.parse(process.argv[2] ?? "") as GatewayChildTask;
const { config } = await loadConfig({ env: process.env, cwd: home, home });

let remaining = dieAt?.after ?? 0;
installFaultAction((point) => {
  if (point !== dieAt?.point) return;
  remaining -= 1;
  if (remaining === 0) process.kill(process.pid, "SIGKILL");
});

const gateway = await openGateway({
  home,
  config,
  port: 0,
  channels: true,
  logger: createLogger({ level: "error" }),
  onChannelStatus: (channel, _account, { state }) => {
    if (channel !== "telegram" || state !== "connected") return;
    // A killed process writes no cache when it ends.
    flushCompileCache();
    process.stdout.write("connected\n");
  },
});
process.once("SIGTERM", () => void gateway.close());
