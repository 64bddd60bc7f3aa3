/**
 * A process of its own that captures a session and writes the files of the hand-off. Its one argument is a
 * HandoffChildTask as JSON. With a point it is killed there; else it ends with exit code 0.
 */
import { type FaultPoint, installFaultAction } from "../../src/base/faults.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { createHandoff } from "../../src/handoff/create-handoff.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { openAgent } from "../../src/compose/agent.ts";

export interface HandoffChildTask {
  kind: StoreKind;
  home: string;
  key: string;
  point?: FaultPoint;
  /** Dies when it comes to the point for the so manieth time. */
  occurrence?: number;
}

const task = JSON.parse(process.argv[2] ?? "") as HandoffChildTask;
const config = { ...DEFAULT_CONFIG, store: { kind: task.kind, view: true } };
const agent = await openAgent({ home: task.home, config });
const layout = agentLayout(task.home, agent.agentId);
const handoff = createHandoff({
  agent,
  layout: layout.handoff,
  defaultWorkspace: layout.workspace,
  config: config.handoff,
});
let left = task.occurrence ?? 1;
installFaultAction((point) => {
  if (point !== task.point || --left > 0) return;
  process.kill(process.pid, "SIGKILL");
  for (;;);
});
await handoff.capture({ kind: "session", sessionKey: task.key }, "messages");
await handoff.close();
await agent.store.close();
