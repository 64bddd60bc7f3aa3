/**
 * Changes of one process that wait for the same file are committed together: one lock, one read,
 * one write. Changes run in the order in which they were asked for. A change that throws is told
 * alone and must have left the state as it found it; a failed write is told to all of its group.
 */
export interface GroupCommit<State> {
  /** Resolves when what `change` did to the state is durable. */
  run<T>(change: (state: State) => T | Promise<T>): Promise<T>;
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>;
}

export interface GroupCommitSteps<State> {
  /** Runs a group while no other process changes the file. */
  exclusively(task: () => Promise<void>): Promise<void>;
  begin(): State;
  commit(state: State): Promise<void>;
}

interface Member<State> {
  change: (state: State) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export function createGroupCommit<State>(steps: GroupCommitSteps<State>): GroupCommit<State> {
  const waiting: Member<State>[] = [];
  let working: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (waiting.length > 0) await commitGroup(steps, waiting);
    working = undefined;
  };

  return {
    run<T>(change: (state: State) => T | Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      waiting.push({ change, resolve: resolve as (value: unknown) => void, reject });
      working ??= work();
      return promise;
    },
    async idle() {
      await working;
    },
  };
}

async function commitGroup<State>(steps: GroupCommitSteps<State>, waiting: Member<State>[]): Promise<void> {
  let group: Member<State>[] | undefined;
  let acknowledgements: (() => void)[] = [];
  try {
    await steps.exclusively(async () => {
      group = waiting.splice(0);
      const state = steps.begin();
      const results = await runChanges(group, state);
      await steps.commit(state);
      acknowledgements = results;
    });
  } catch (error) {
    // What was committed is acknowledged even when letting others in failed: it is durable.
    if (acknowledgements.length === 0) for (const { reject } of group ?? waiting.splice(0)) reject(error);
  }
  for (const acknowledge of acknowledgements) acknowledge();
}

/** Runs the changes in order; gives what is to be done when they are durable. */
async function runChanges<State>(group: readonly Member<State>[], state: State): Promise<(() => void)[]> {
  const acknowledgements: (() => void)[] = [];
  for (const { change, resolve, reject } of group) {
    try {
      const value = await change(state);
      acknowledgements.push(() => resolve(value));
    } catch (error) {
      reject(error);
    }
  }
  return acknowledgements;
}
