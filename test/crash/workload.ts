/**
 * The operations of the crash tests, done in this process, for failures that do not end a process: each operation
 * either resolves or is refused, and the files can be compared with the acknowledged operations at any time.
 */
import type { Clock } from "../../src/base/clock.ts";
import type { AgentHandle } from "../../src/session/agent-handle.ts";
import { checkHome } from "../../src/selftest/check-home.ts";
import { type JournalLine, createExpectation, expectJournal } from "../../src/selftest/expectation.ts";
import { type Workplace, perform, type Choice, chooseOperation } from "../../src/selftest/perform.ts";
import type { Operation } from "../../src/selftest/operations.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { openHome } from "../../src/selftest/run-child.ts";

export interface WorkloadOptions {
  home: string;
  kind: StoreKind;
  choice: Choice;
  clock: Clock;
}

export interface Workload extends AsyncDisposable {
  readonly agent: AgentHandle;
  /** The next operation of the mix; rejects when it is refused. */
  next(): Promise<Operation>;
  /** Differences from the acknowledged writes. A failed last operation may be present. */
  problems(options?: { onlyRead?: boolean }): Promise<string[]>;
}

export async function openWorkload({ home, kind, choice, clock }: WorkloadOptions): Promise<Workload> {
  const open = async (): Promise<AgentHandle> => await openHome(home, kind, { view: true, clock });
  const expectation = createExpectation();
  const leases: JournalLine[] = [];
  let refused: Operation | undefined;
  const place: Workplace = {
    agent: await open(),
    reopen: async () => {
      await place.agent.store.close();
      place.agent = await open();
    },
    onLease: ({ key, epoch }) => leases.push({ say: "leased", key, epoch }),
  };
  return {
    get agent() {
      return place.agent;
    },
    async next() {
      const operation = await chooseOperation(place.agent, expectation.nextNumber, choice);
      refused = operation;
      try {
        const result = await perform(place, operation);
        refused = undefined;
        expectJournal(expectation, [{ say: "begin", operation }, ...leases, { say: "end", result }]);
      } finally {
        expectation.nextNumber = operation.number + 1;
      }
      return operation;
    },
    problems: async ({ onlyRead = false } = {}) =>
      await checkHome({ home, kind, expectation, inFlight: refused, onlyRead, clock }),
    [Symbol.asyncDispose]: async () => await place.agent.store.close(),
  };
}
