/** The record of one run, as the runner that owns it changes it. Once removed it never comes back. */
import { type RunRecord, removeRun, writeRun } from "./live-runs.ts";

export interface RunRecordFile {
  current(): RunRecord;
  update(change: Partial<RunRecord>): Promise<void>;
  remove(): Promise<void>;
}

export async function createRunRecord(locksFolder: string, first: RunRecord): Promise<RunRecordFile> {
  let record = first;
  let isRemoved = false;
  /** Writes follow each other, so that an older state never replaces a newer one. */
  let writing = writeRun(locksFolder, first);
  await writing;
  return {
    current: () => record,
    update: async (change) => {
      record = { ...record, ...change };
      // What others see of a run is worth less than the run: it goes on without.
      writing = writing.then(async () => {
        if (!isRemoved) await writeRun(locksFolder, record).catch(() => undefined);
      });
      await writing;
    },
    remove: async () => {
      isRemoved = true;
      await writing;
      await removeRun(locksFolder, record.runId);
    },
  };
}
