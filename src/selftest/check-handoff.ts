/** Compares the hand-off of one session with what was acknowledged. It stays when the session is archived. */
import type { AgentHandle } from "../session/agent-handle.ts";
import type { ExpectedSession } from "./expectation.ts";
import type { HandedOver, Operation } from "./operations.ts";

/** `inFlight` is an operation on this session. */
export async function checkHandoff(
  { store }: AgentHandle,
  session: ExpectedSession,
  inFlight: Operation | undefined,
): Promise<string[]> {
  const { count = 0, lastNumber = 0 } = ((await store.handoffs.get(session.key)) ?? {}) as Partial<HandedOver>;
  const { handedOver } = session;
  if (inFlight?.name === "hand-over" && count === handedOver.count + 1 && lastNumber === inFlight.number) {
    session.handedOver = { count, lastNumber };
    return [];
  }
  if (count === handedOver.count && lastNumber === handedOver.lastNumber) return [];
  return [
    `handed over ${count} times, last by ${lastNumber}; acknowledged ${handedOver.count}, last ${handedOver.lastNumber}`,
  ];
}
