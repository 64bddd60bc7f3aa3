/** The gateway, which is started where none runs, or with `--local` its methods in this process. */
import { HoldfastError } from "../../base/errors.ts";
import { connectToGateway } from "../../gateway/connect-to-gateway.ts";
import type { Setup } from "../context.ts";
import { ensureGateway } from "./gateway-client.ts";
import type { LiveCaller } from "./live-caller.ts";

export async function openCaller(setup: Setup, options: { local?: boolean }): Promise<LiveCaller> {
  if (options.local !== true) return await connect(setup);
  const { openLocalCaller } = await import("./local-caller.ts");
  return await openLocalCaller(setup);
}

async function connect(setup: Setup): Promise<LiveCaller> {
  await ensureGateway(setup);
  const client = await connectToGateway(setup);
  const lost = client.closed.then(({ reason }): never => {
    throw gatewayGone(reason);
  });
  lost.catch(() => undefined);
  let unsubscribe: (() => void) | undefined;
  return {
    call: async (method, params, options) => await client.call(method, params, options),
    watch: async (sessionKey, listener) => {
      unsubscribe?.();
      unsubscribe = client.onEvent(listener);
      await client.call("events.subscribe", { sessionKeys: [sessionKey] });
    },
    lost,
    close: async () => {
      client.close();
      await client.closed;
    },
  };
}

function gatewayGone(reason: string): HoldfastError {
  const why = reason === "" ? "" : `: ${reason}`;
  return new HoldfastError("unavailable", "gateway-gone", `The gateway has gone${why}`, {
    hint: "What was said is kept and answered when it is back; `holdfast history` shows it.",
  });
}
