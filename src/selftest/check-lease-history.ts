/** Compares what contenders said about their writes with what is in the files. */
import { type AgentHandle, transcriptPath } from "../session/agent-handle.ts";
import { readTranscript } from "../transcript/reader.ts";
import { messageText } from "../transcript/text.ts";
import { walkPath } from "../transcript/walk.ts";
import type { LeaseLine } from "./lease-child.ts";
import type { CountedEntry } from "./operations.ts";

export interface LeaseHistory {
  acknowledged: number;
  problems: string[];
}

export async function checkLeaseHistory(
  agent: AgentHandle,
  key: string,
  lines: readonly LeaseLine[],
): Promise<LeaseHistory> {
  const entry: CountedEntry | undefined = await agent.store.get(key);
  if (entry === undefined) return { acknowledged: 0, problems: ["the session is gone"] };
  const path = transcriptPath(agent, entry);
  const appended = lines.flatMap((line) => (line.say === "appended" ? [line.text] : []));
  const updates = lines.filter(({ say }) => say === "updated").length;
  const tenures = lines.filter(({ say }) => say === "acquired").map(({ epoch }) => epoch);
  const problems = [
    ...lines.flatMap((line) => (line.say === "violation" ? [`epoch ${line.epoch}: ${line.what}`] : [])),
    ...(new Set(tenures).size < tenures.length ? ["one epoch was given to two holders"] : []),
    ...(await checkFile(path, new Set(appended))),
    ...(await checkConversation(path, appended)),
    ...checkCount(entry.selftest?.count ?? 0, updates, tenures.length),
  ];
  return { acknowledged: appended.length + updates, problems };
}

/** Lines that were refused may stand anywhere: they are side branches. */
async function checkFile(path: string, acknowledged: ReadonlySet<string>): Promise<string[]> {
  const reading = readTranscript(path);
  const problems: string[] = [];
  const found = new Set<string>();
  let newest = 0;
  for await (const item of reading) {
    if (item.kind !== "entry" || item.entry.type !== "message") continue;
    const text = messageText(item.entry.message);
    if (!acknowledged.has(text)) continue;
    if (found.has(text)) problems.push(`append ${text} is there twice`);
    found.add(text);
    const epoch = item.entry.leaseEpoch ?? 0;
    if (epoch < newest) problems.push(`append ${text} stands behind one of epoch ${newest}`);
    newest = Math.max(newest, epoch);
  }
  for (const text of acknowledged) if (!found.has(text)) problems.push(`append ${text} is lost`);
  return [...problems, ...reading.report.problems.map(({ reason, line }) => `line ${line ?? "?"}: ${reason}`)];
}

/** What was acknowledged is on the way from the newest entry to the first: a model will see it. */
async function checkConversation(path: string, acknowledged: readonly string[]): Promise<string[]> {
  const said = new Set<string>();
  const problems: string[] = [];
  for await (const { entry } of walkPath(path, { onProblem: ({ reason }) => problems.push(reason) })) {
    if (entry.type === "message") said.add(messageText(entry.message));
  }
  const missing = acknowledged.filter((text) => !said.has(text));
  return [...problems, ...missing.map((text) => `append ${text} is not part of the conversation`)];
}

/** Each tenure may have ended in the middle of one update that was made and never acknowledged. */
function checkCount(count: number, updates: number, tenures: number): string[] {
  if (count >= updates && count <= updates + tenures) return [];
  return [`${updates} updates were acknowledged, ${count} are there`];
}
