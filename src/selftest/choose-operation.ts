/** Which operation comes next: depends on the seed, on its number and on what is there. */
import { listArchives } from "../session/archive.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { OPERATION_NAMES, type Operation, type OperationName, SESSION_KEYS } from "./operations.ts";
import { type Random, createRandom } from "./random.ts";

export interface Choice {
  seed: string;
  /** What leads to a fault point; one of these is done every second time. */
  lean?: readonly [OperationName, ...OperationName[]];
  /** The session to work on every second time. */
  leanKey?: string;
}

export async function chooseOperation(agent: AgentHandle, number: number, choice: Choice): Promise<Operation> {
  const random = createRandom(choice.seed, number);
  const leaning = random.chance(0.5);
  const name = leaning && choice.lean !== undefined ? random.pick(choice.lean) : randomName(random);
  const key = leaning && choice.leanKey !== undefined ? choice.leanKey : random.pick(SESSION_KEYS);
  if (NEED_NO_SESSION.has(name)) return { number, name, key };
  if ((await agent.store.get(key)) !== undefined) return { number, name, key };
  const isArchived = (await listArchives(agent)).some((record) => record.key === key);
  return { number, name: isArchived ? "restore" : "open", key };
}

const NEED_NO_SESSION: ReadonlySet<OperationName> = new Set(["reopen", "deliver", "admit", "hand-over"]);

/** Conversations consist of messages: the rest is rarer. */
function randomName(random: Random): OperationName {
  return random.chance(0.4) ? random.pick(["append", "count"]) : random.pick(OPERATION_NAMES);
}
