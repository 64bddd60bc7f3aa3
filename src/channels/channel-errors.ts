/** What a channel answers when it cannot do what it is asked. `name` is the platform's, as people know it. */
import { HoldfastError } from "../base/errors.ts";

export function notConnected(name: string): HoldfastError {
  return new HoldfastError("unavailable", "channel-not-connected", `${name} is not connected.`, {
    hint: "Wait until the channel has started; `holdfast channels status` says what it is doing.",
  });
}

export function stoppedWhileConnecting(name: string): HoldfastError {
  return new HoldfastError("interrupted", "channel-stopped", `The ${name} channel was stopped while it connected.`, {
    hint: "Start it again.",
  });
}

export function alreadyStarted(name: string): HoldfastError {
  return new HoldfastError("conflict", "channel-started", `The ${name} channel is running already.`, {
    hint: "Stop it before starting it again.",
  });
}
