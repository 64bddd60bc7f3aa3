/** `holdfast import openclaw`: takes over an OpenClaw folder and says what was taken and what was left. */
import { resolve } from "node:path";
import { ERROR_KINDS, undefinedOn } from "../../base/errors.ts";
import { printableLine } from "../../base/text.ts";
import { openAgent, openStoreRepair } from "../../compose/agent.ts";
import { resolveOpenClawHome } from "../../config/layout.ts";
import { importOpenClaw } from "../../import/openclaw.ts";
import type { ImportItem, ImportReport } from "../../import/report.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { Flags } from "../command.ts";
import { STORE_MISSING, loadSetup } from "../context.ts";
import { plural, print, printJson, printTable, right, talk, waitingLine } from "../output.ts";

type ImportCommandOptions = Flags<"json" | "dryRun">;

export async function importFromOpenClaw(dir: string | undefined, options: ImportCommandOptions): Promise<void> {
  const { dryRun = false } = options;
  const setup = await loadSetup();
  const from = dir === undefined ? resolveOpenClawHome() : resolve(dir);
  await using opened = new AsyncDisposableStack();
  const open = async (agentId: string): Promise<AgentHandle | undefined> => await openFor(agentId, dryRun, opened);
  using _waiting = waitingLine("Importing");
  const report = await importOpenClaw({ ...setup, from, dryRun, openAgent: open });
  if (options.json === true) printJson(report);
  else printReport(report);
  if (!report.ok) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

/** Loads the configuration again: the import may have changed it. */
async function openFor(agentId: string, dryRun: boolean, opened: AsyncDisposableStack) {
  const setup = await loadSetup();
  if (dryRun) {
    // Without this, closing the store would merge its log.
    const unchanged = await (await openStoreRepair({ ...setup, agentId })).preserve?.();
    opened.defer(() => unchanged?.[Symbol.dispose]());
  }
  const agent = await undefinedOn(
    openAgent({ ...setup, agentId, create: !dryRun }),
    ...(dryRun ? [STORE_MISSING] : []),
  );
  opened.defer(async () => await agent?.store.close());
  return agent;
}

function printReport(report: ImportReport): void {
  const { from, home, dryRun, counts, items } = report;
  print(`${dryRun ? "Would import" : "Imported"} ${from} to ${home}`);
  const rows = Object.entries(counts)
    .filter(([, { found }]) => found > 0)
    .map(([name, { found, taken, here, left }]) => [titleOf(name), ...[found, taken, here, left].map(String)]);
  if (rows.length > 0) {
    printTable(["", right("FOUND"), right(dryRun ? "TO TAKE" : "TAKEN"), right("ALREADY HERE"), right("LEFT")], rows);
  }
  printReasons(
    "Notes",
    items.filter(({ outcome, reason }) => outcome === "taken" && reason !== undefined),
  );
  printReasons(
    "Left",
    items.filter(({ outcome }) => outcome === "left"),
  );
  if (dryRun) talk("Nothing was changed. Run it again without --dry-run to import.");
  else if (!report.ok) talk("Some sources could not be imported; see above. Solve these problems and import again.");
  else
    talk(
      "OpenClaw's files were not changed. `holdfast sessions` lists your sessions; `holdfast hooks list` your hooks.",
    );
}

/** `archivedSessions` is `archived sessions`. */
function titleOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const MAX_NAMES = 10;

/** Items with the same reason share a line. */
function printReasons(title: string, items: readonly ImportItem[]): void {
  if (items.length === 0) return;
  print(`${title}:`);
  const byReason = Map.groupBy(items, ({ kind, reason, isProblem }) => `${isProblem ? "!" : "-"} ${kind} ${reason}`);
  for (const same of byReason.values()) {
    const [{ kind, reason } = { kind: "", reason: "" }] = same;
    // A dry run finds the hooks that all agents share once for each agent.
    const names = [...new Set(same.map(({ name }) => printableLine(name)))];
    const list = [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ["…"] : [])].join(", ");
    const what = names.length === 1 ? `${kind} ${list}` : `${plural(names.length, kind)} (${list})`;
    const why = printableLine(reason ?? "");
    print(why.startsWith(list) ? `  ${why}` : `  ${what}: ${why}`);
  }
}
