/** Works on a home: fixes it, imports to it, captures a session's hand-off, or brings a search index up to date. */
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { childTask, dieAt, report } from "./child.ts";

const task = childTask("home");

switch (task.task) {
  case "index": {
    const { createSearchIndex } = await import("../../src/memory/search-index.ts");
    const index = await createSearchIndex({ path: task.path, clock: systemClock, logger: silentLogger });
    report("opened");
    await index.refresh({ sources: task.sources });
    index.close();
    break;
  }
  case "import": {
    const { runImport } = await import("./openclaw-home.ts");
    dieAt(task.point, task.occurrence);
    await runImport(task, {});
    break;
  }
  case "doctor": {
    const { openDoctorHome } = await import("./doctor-home.ts");
    dieAt(task.point, task.occurrence);
    await openDoctorHome(task.home, task.kind).doctor({ fix: true });
    break;
  }
  case "capture":
    await capture(task);
}

async function capture(options: Extract<typeof task, { task: "capture" }>): Promise<void> {
  const { createHandoff } = await import("../../src/handoff/create-handoff.ts");
  const { openAgent } = await import("../../src/compose/agent.ts");
  const { kind, home, key, point, occurrence } = options;
  const config = { ...DEFAULT_CONFIG, store: { kind, view: true } };
  const agent = await openAgent({ home, config });
  const { handoff: layout, workspace } = agentLayout(home, agent.agentId);
  const handoff = createHandoff({ agent, layout, defaultWorkspace: workspace, config: config.handoff });
  dieAt(point, occurrence);
  await handoff.capture({ kind: "session", sessionKey: key }, "messages");
  await handoff.close();
  await agent.store.close();
}
