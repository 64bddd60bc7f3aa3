/**
 * The file of what waits for an agent's next turns. Whoever opens a damaged one sets it aside and begins
 * anew; here the same is done before anybody has to find out. A gateway that runs may have it open: what
 * it writes into a file that was moved away would be lost.
 */
import { diagnosePending, setPendingAside } from "../turn/body/pending-database.ts";
import type { AgentScope } from "./agent-scope.ts";
import type { Diagnosis } from "./finding.ts";

export async function* checkPending(
  { layout, clock }: AgentScope,
  { gatewayMayRun }: { gatewayMayRun: boolean },
): AsyncGenerator<Diagnosis> {
  const path = layout.pending;
  const problem = await diagnosePending(path);
  if (problem === undefined) return;
  const { message } = problem;
  if (problem.kind !== "corrupt") {
    yield { finding: { severity: "error", message: tell(message, problem.hint), path } };
  } else if (gatewayMayRun) {
    yield { finding: { severity: "error", message: tell(message, "Stop the gateway, then it can be mended"), path } };
  } else {
    yield {
      finding: {
        severity: "error",
        message,
        path,
        fix: "set it aside; messages of groups and events that waited for the next turns are lost, nothing else",
      },
      mend: async () => void (await setPendingAside({ path, clock })),
    };
  }
}

function tell(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}
