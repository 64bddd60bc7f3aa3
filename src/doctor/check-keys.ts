/** Keys in `sessions.json` that no session is found by, and values that are no entries: somebody else's data. */
import type { AgentScope } from "./agent-scope.ts";
import type { Diagnosis } from "./finding.ts";
import { isEntry, ownKeyOrUndefined, readSessionsFile } from "./sessions-file.ts";

export async function* checkKeys(scope: AgentScope): AsyncGenerator<Diagnosis> {
  const path = scope.layout.sessionsFile;
  const file = await readSessionsFile(path);
  if (file.state !== "read") return;
  for (const [key, value] of Object.entries(file.sessions)) {
    const own = ownKeyOrUndefined(key, scope);
    if (own === undefined) {
      const message = "Not a session of this agent: it is kept and not shown. Move it to the agent that it belongs to";
      yield { finding: { severity: "warning", message, key, path } };
    } else if (!isEntry(value)) {
      const message =
        "What is stored under the key is no session entry: it is kept and not shown. Correct or remove it";
      yield { finding: { severity: "warning", message, key, path } };
    } else if (own !== key) {
      yield { finding: { severity: "info", message: `Another spelling of ${own}: both are one session`, key, path } };
    }
  }
}
