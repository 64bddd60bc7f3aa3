/** The pipeline's side of a channel under test. It records everything, and refuses on request. */
import { expect } from "vitest";
import { HoldfastError } from "../../src/base/errors.ts";
import type { ChannelHost, ChannelStatus, InboundMessage } from "../../src/channels/channel.ts";

export interface RememberingHost extends ChannelHost {
  /** Every call, in order. */
  admitted: InboundMessage[];
  statuses: ChannelStatus[];
  /** Called before every admission; throws to refuse it. */
  before: (message: InboundMessage) => void | Promise<void>;
  /** Thrown by the next admissions. */
  failures: Error[];
}

export function createRememberingHost(): RememberingHost {
  const host: RememberingHost = {
    admitted: [],
    statuses: [],
    before: () => undefined,
    failures: [],
    admit: async (message) => {
      await host.before(message);
      const failure = host.failures.shift();
      if (failure !== undefined) throw failure;
      host.admitted.push(message);
    },
    report: (status) => void host.statuses.push(status),
  };
  return host;
}

export const soon = { timeout: 10_000, interval: 10 };

export const keyOptions = {
  agentId: "main",
  session: { scope: "per-sender" as const, dmScope: "per-channel-peer" as const },
};

/** Texts of the admitted messages, in order. */
export function texts({ admitted }: { admitted: readonly InboundMessage[] }): (string | undefined)[] {
  return admitted.map(({ ctx }) => ctx.Body);
}

export async function failure(promise: Promise<unknown>): Promise<HoldfastError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HoldfastError);
  return error as HoldfastError;
}

/** Waits until aborted. */
export async function neverButAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
}
