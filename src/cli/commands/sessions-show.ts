/** `holdfast sessions show`: one session with its windows and who is writing it. */
import { localTime } from "../../base/clock.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { findSession } from "../../session/find-session.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Lease, Window } from "../../store/store.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { formatAge, print, printJson, printStyled, printTable, style } from "../output.ts";

export interface SessionDetails {
  key: string;
  agentId: string;
  path: string;
  entry: SessionEntry;
  windows: Window[];
  lease?: Lease;
}

export async function showSession(reference: string, options: AgentOptions & { json?: boolean }): Promise<void> {
  const details = await withAgent(options, async (agent) => await readDetails(agent, reference));
  if (options.json === true) printJson(details);
  else printDetails(details);
}

async function readDetails(agent: AgentHandle, reference: string): Promise<SessionDetails> {
  const { key, entry } = await findSession(agent, reference);
  const lease = await agent.store.leases.current(key);
  return {
    key,
    agentId: agent.agentId,
    path: agent.store.path,
    entry,
    windows: await agent.store.windows(key),
    ...(lease === undefined ? {} : { lease }),
  };
}

/** Shown as sizes: nobody reads them in a terminal. */
const LARGE = new Set(["skillsSnapshot", "systemPromptReport"]);

function printDetails({ key, entry, windows, lease }: SessionDetails): void {
  printStyled(style("bold", key));
  for (const [field, value] of Object.entries(entry)) {
    print(`  ${field.padEnd(22)} ${describeValue(field, value)}`);
  }
  if (lease !== undefined) {
    print(`  written by             process ${lease.process.pid} on ${lease.process.host}, epoch ${lease.epoch}`);
  }
  printStyled("");
  printTable(
    [{ title: "WINDOW" }, { title: "OPENED" }, { title: "BY" }, { title: "CLOSED" }, { title: "TRANSCRIPT" }],
    windows.map((window) => [
      window.sessionId.slice(0, 8),
      localTime(window.openedAt),
      window.reason,
      window.closedAt === undefined ? "open" : localTime(window.closedAt),
      window.archive === undefined ? (window.transcript ?? "") : `archive/${window.archive}`,
    ]),
  );
}

function describeValue(field: string, value: unknown): string {
  if (LARGE.has(field)) return `(${JSON.stringify(value).length} characters)`;
  if (typeof value === "number" && field.endsWith("At")) {
    return `${localTime(value)} (${formatAge(Date.now() - value)})`;
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
