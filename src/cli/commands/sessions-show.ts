/** `holdfast sessions show`: one session with its windows and its lease, and the summary of a session for lists. */
import { localTime } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { redactText } from "../../base/redact.ts";
import { type AgentHandle, transcriptPath } from "../../session/agent-handle.ts";
import { findSession } from "../../session/find-session.ts";
import { deriveSessionTitle } from "../../session/title.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Flags } from "../command.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { formatAge, print, printJson, printStyled, printTable, style } from "../output.ts";
import { firstUserText, lastMessagePreview } from "../../transcript/reader.ts";

export async function showSession(reference: string, options: AgentOptions & Flags<"json">): Promise<void> {
  const details = await withAgent(options, async (agent) => await readDetails(agent, reference));
  if (options.json === true) printJson(details);
  else printDetails(details);
}

async function readDetails(agent: AgentHandle, reference: string) {
  const { agentId, store } = agent;
  const { key, entry } = await findSession(agent, reference);
  const [windows, lease] = await Promise.all([store.windows(key), store.leases.current(key)]);
  return { key, agentId, path: store.path, entry, windows, lease };
}

/** Large fields, shown only as sizes. */
const LARGE = new Set(["skillsSnapshot", "systemPromptReport"]);

function printDetails({ key, entry, windows, lease }: Awaited<ReturnType<typeof readDetails>>): void {
  printStyled(style("bold", key));
  for (const [field, value] of Object.entries(entry)) {
    print(`  ${field.padEnd(22)} ${describeValue(field, value)}`);
  }
  if (lease !== undefined) {
    print(`  written by             process ${lease.process.pid} on ${lease.process.host}, epoch ${lease.epoch}`);
  }
  printStyled("");
  printTable(
    ["WINDOW", "OPENED", "BY", "CLOSED", "TRANSCRIPT"],
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

/** Title and last message, from the two ends of the transcript. Empty if there are no messages. */
export async function describeSession(
  entry: SessionEntry,
  sessionsFolder: string,
): Promise<{ title: string; last: string }> {
  const path = transcriptPath({ sessionsFolder }, entry);
  try {
    const [first, last] = await Promise.all([
      entry.label === undefined ? firstUserText(path) : undefined,
      lastMessagePreview(path),
    ]);
    return { title: redactText(titleOf(entry, first)), last: redactText(last ?? "") };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { title: redactText(titleOf(entry, undefined)), last: "(unreadable; see `holdfast doctor`)" };
  }
}

function titleOf(entry: SessionEntry, first: string | undefined): string {
  // Without the session id: it would become the title of a session without messages.
  const { sessionId: _, ...named } = entry;
  return named.label ?? deriveSessionTitle(named, first) ?? "";
}
