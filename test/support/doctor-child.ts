/** Runs `doctor --fix` on a home until it reaches a fault point for the nth time, and is killed there. */
import { type FaultPoint, installFaultAction } from "../../src/base/faults.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { openDoctorHome } from "./doctor-home.ts";

export interface DoctorChildTask {
  home: string;
  kind: StoreKind;
  point: FaultPoint;
  occurrence: number;
}

const { home, kind, point, occurrence } = JSON.parse(process.argv[2] ?? "") as DoctorChildTask;

let seen = 0;
installFaultAction((reached) => {
  if (reached !== point || ++seen < occurrence) return;
  process.kill(process.pid, "SIGKILL");
  for (;;);
});
await openDoctorHome(home, kind).doctor({ fix: true });
