/** A worker thread that reads transcripts. Started by `scan-pool.ts`; ends when its port is closed. */
import { parentPort } from "node:worker_threads";
import { createFileScanner } from "../native/scan-file.ts";
import { type ScanJob, runScanJobs } from "./scan-job.ts";

const scanner = createFileScanner();

parentPort?.on("message", (jobs: ScanJob[]) => {
  parentPort?.postMessage(runScanJobs(scanner, jobs));
});
