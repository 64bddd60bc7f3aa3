/** A worker thread that reads transcripts. `scan-intake.ts` starts and ends it. */
import { parentPort } from "node:worker_threads";
import { type ScanJob, createScanners, runScanJobs } from "./scan-job.ts";

const scanners = createScanners();

parentPort?.on("message", (jobs: ScanJob[]) => {
  // A copy of many small objects would take longer.
  parentPort?.postMessage(JSON.stringify(runScanJobs(scanners, jobs)));
});
