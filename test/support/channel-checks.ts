/** What tests of every channel look for. */
import { expect } from "vitest";
import { HoldfastError } from "../../src/base/errors.ts";
import type { InboundMessage } from "../../src/channels/channel.ts";

export const soon = { timeout: 10_000, interval: 10 };

export const keyOptions = {
  agentId: "main",
  session: { scope: "per-sender" as const, dmScope: "per-channel-peer" as const },
};

/** Of distinct messages, in the order of their admission. */
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

/** Waits until it is told to stop. */
export async function neverButAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
}
