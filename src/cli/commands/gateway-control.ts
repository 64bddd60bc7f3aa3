/** `holdfast gateway status` and `holdfast gateway stop`: about the gateway of this home, from outside. */
import { setTimeout as delay } from "node:timers/promises";
import { ERROR_KINDS, HoldfastError, systemErrorCode } from "../../base/errors.ts";
import { processState } from "../../base/processes.ts";
import { gatewayLayout } from "../../config/layout.ts";
import { channelLine } from "../channel-view.ts";
import { type Setup, loadSetup } from "../context.ts";
import { withIdleAccounts } from "../idle-accounts.ts";
import { formatAge, formatBytes, print, printJson, talk } from "../output.ts";
import { type GatewayHandle, SIGN_IN, findRunningGateway } from "../rpc/gateway-client.ts";
import { waitingLine } from "../waiting-line.ts";

export async function gatewayStatus(options: { json?: boolean }): Promise<void> {
  const setup = await loadSetup();
  const gateway = await findRunningGateway(setup);
  if (gateway === undefined) {
    if (options.json === true) printJson({ schema: 1, running: false });
    else talk("No gateway runs. `holdfast gateway` starts one.");
    process.exitCode = ERROR_KINDS["not-found"].exitCode;
    return;
  }
  const {
    version,
    startedAt,
    uptimeMs,
    pid,
    memory,
    turns,
    channels: known,
  } = await gateway.call("status", { limit: 1 });
  const { url } = gateway;
  const channels = withIdleAccounts(known, setup.config);
  if (options.json === true) {
    return printJson({ schema: 1, running: true, url, pid, version, startedAt, uptimeMs, memory, turns, channels });
  }
  print(`A gateway runs at ${url} (version ${version}, process ${pid}, up ${formatAge(uptimeMs)}).`);
  print(`The page: ${process.stdout.isTTY ? gateway.pageLink : SIGN_IN}`);
  print(`Turns: ${turns.running.length} running, ${turns.queued} waiting, ${turns.counts.turns} so far.`);
  print(`Memory: ${formatBytes(memory.rssBytes)}. Log: ${gatewayLayout(setup.home).logFile}`);
  for (const row of channels) print(channelLine(row));
}

/** On its own, for whoever asks for it: elsewhere the token would end up in logs. */
export async function gatewayLink(options: { json?: boolean }): Promise<void> {
  const gateway = await findRunningGateway(await loadSetup());
  if (gateway === undefined) {
    throw new HoldfastError("not-found", "gateway-not-running", "No gateway runs", {
      hint: "`holdfast gateway` starts one.",
    });
  }
  const { url, pageLink: link } = gateway;
  if (options.json === true) printJson({ schema: 1, url, link });
  else print(link);
}

const LOOK_AGAIN_MS = 50;
/** Beyond what running turns are given to end. */
const GRACE_MS = 15_000;

export async function stopGateway(options: { json?: boolean }): Promise<void> {
  const setup = await loadSetup();
  const gateway = await findRunningGateway(setup);
  if (gateway === undefined) {
    throw new HoldfastError("not-found", "gateway-not-running", "No gateway runs", {
      hint: "There is nothing to stop.",
    });
  }
  signal(gateway);
  await waitForEnd(gateway, setup);
  if (options.json === true) printJson({ schema: 1, ok: true, pid: gateway.process.pid });
  else print(`The gateway (process ${gateway.process.pid}) has stopped.`);
}

function signal({ process: { pid } }: GatewayHandle): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if (systemErrorCode(error) === "ESRCH") return;
    throw new HoldfastError("forbidden", "gateway-not-yours", `Process ${pid} cannot be stopped from here`, {
      hint: "It belongs to another user: stop it as that user.",
      cause: error,
    });
  }
}

/** Running turns may take their time; what they leave is answered by the next gateway. */
async function waitForEnd({ process: identity }: GatewayHandle, { config }: Setup): Promise<void> {
  const deadline = performance.now() + config.turns.drainSeconds * 1000 + GRACE_MS;
  using _line = waitingLine("Waiting for running turns to end");
  while (processState(identity) === "alive") {
    if (performance.now() > deadline) {
      throw new HoldfastError("timeout", "gateway-not-stopped", `The gateway (process ${identity.pid}) does not end`, {
        hint: `\`kill ${identity.pid}\` once more ends it at once; nothing that was admitted is lost.`,
        data: { pid: identity.pid },
      });
    }
    await delay(LOOK_AGAIN_MS);
  }
}
