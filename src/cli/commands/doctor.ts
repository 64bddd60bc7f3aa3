/** `holdfast doctor`: what is wrong with the files, and what was done about it. */
import { readdir, stat } from "node:fs/promises";
import { systemClock } from "../../base/clock.ts";
import { ERROR_KINDS, HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import { configuredAccounts } from "../../config/channel-accounts.ts";
import { listAgentIds, openAgent, openStoreRepair } from "../../compose.ts";
import { agentLayout, configFile, gatewayLayout, resolveHome } from "../../config/layout.ts";
import type { AgentScope } from "../../doctor/agent-scope.ts";
import type { GatewayFacts } from "../../doctor/check-gateway.ts";
import { type Finding, isOpenProblem } from "../../doctor/finding.ts";
import { type DoctorReport, runDoctor } from "../../doctor/run-doctor.ts";
import { findGateway, gatewayState } from "../../gateway/runtime-file.ts";
import { readToken } from "../../gateway/token-file.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import type { DeliveryRoute } from "../../store/store.ts";
import { type Setup, loadSetup } from "../context.ts";
import { print, printJson, printStyled, style } from "../output.ts";

export interface DoctorCommandOptions {
  fix?: boolean;
  agent?: string;
  deep?: boolean;
  json?: boolean;
}

export async function doctor(options: DoctorCommandOptions): Promise<void> {
  const home = resolveHome();
  const exists = await isReadableFolder(home);
  const report = exists ? await examine(home, options) : NOTHING_THERE;
  if (options.json === true) printJson(report);
  else if (exists) printReport(report, options);
  else print(`No problems found: there is nothing in ${home} yet.`);
  process.exitCode = report.ok ? 0 : ERROR_KINDS.degraded.exitCode;
}

const NOTHING_THERE: DoctorReport = {
  ok: true,
  fixed: 0,
  findings: [],
  checked: { agents: 0, sessions: 0, transcripts: 0 },
};

async function isReadableFolder(home: string): Promise<boolean> {
  try {
    await readdir(home);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return false;
    throw fileError(error, "read folder", home);
  }
}

async function examine(home: string, options: DoctorCommandOptions): Promise<DoctorReport> {
  const { setup, configProblem } = await loadSetupOrProblem();
  const agents = setup === undefined ? [] : await openScopes(setup, options);
  const gateway = await lookAtGateway(home);
  const isConfigured = setup === undefined ? {} : { isConfigured: routesOf(setup) };
  return await runDoctor({ home, fix: options.fix === true, agents, configProblem, gateway, ...isConfigured });
}

async function lookAtGateway(home: string): Promise<GatewayFacts> {
  const facts = { state: await gatewayState(home), hasOldConfig: await hasOldConfig(home) };
  try {
    await readToken(gatewayLayout(home).tokenFile);
    return facts;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const hint = error.hint === undefined ? "" : `. ${error.hint}`;
    return { ...facts, tokenProblem: `${error.message}${hint}` };
  }
}

async function hasOldConfig(home: string): Promise<boolean> {
  const [gateway, facts] = await Promise.all([findGateway(home), stat(configFile(home)).catch(() => undefined)]);
  return gateway !== undefined && facts !== undefined && facts.mtimeMs > gateway.startedAt;
}

/** The page and the command line are always there. */
function routesOf({ config }: Setup): (route: DeliveryRoute) => boolean {
  const known = configuredAccounts(config);
  return ({ channel, accountId }) =>
    channel === "web" || channel === "cli" || known.some((one) => one.name === channel && one.accountId === accountId);
}

/** A broken configuration is something to find here, not a reason to give up. */
async function loadSetupOrProblem(): Promise<{ setup?: Setup; configProblem?: string }> {
  try {
    return { setup: await loadSetup() };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { configProblem: error.message };
  }
}

async function openScopes(setup: Setup, options: DoctorCommandOptions): Promise<AgentScope[]> {
  const known = await listAgentIds(setup.home);
  const wanted = options.agent === undefined ? undefined : normalizeAgentId(options.agent);
  if (wanted !== undefined && !known.includes(wanted)) throw noSuchAgent(wanted);
  const chosen = wanted === undefined ? known : [wanted];
  return await Promise.all(
    chosen.map(async (agentId) => ({
      agentId,
      mainKey: setup.config.session.mainKey,
      layout: agentLayout(setup.home, agentId),
      repair: await openStoreRepair({ ...setup, agentId }),
      open: async () => await openAgent({ ...setup, agentId, create: false }),
      clock: systemClock,
      deep: options.deep === true,
    })),
  );
}

function noSuchAgent(agent: string): HoldfastError {
  return new HoldfastError("not-found", "agent-not-found", `There is no agent "${agent}"`, {
    hint: "Run `holdfast doctor` without --agent to check all of them.",
  });
}

function printReport(report: DoctorReport, options: DoctorCommandOptions): void {
  for (const [agent, findings] of Map.groupBy(report.findings, (finding) => finding.agent)) {
    printStyled(style("bold", agent === undefined ? "Holdfast" : `Agent ${agent}`));
    for (const finding of findings) printFinding(finding, options);
  }
  print(summary(report, options));
}

function printFinding(finding: Finding, { fix }: DoctorCommandOptions): void {
  const { message, key, path } = finding;
  const about = [key, path].filter((part) => part !== undefined && !message.includes(part)).join(" · ");
  printStyled(`  ${mark(finding)} ${printableLine(`${message}${about === "" ? "" : ` (${about})`}`)}`);
  if (finding.fixed === true) printStyled(style("dim", `      mended: ${printableLine(finding.fix ?? "")}`));
  else if (finding.failure !== undefined) printStyled(`      could not be mended: ${printableLine(finding.failure)}`);
  else if (finding.fix !== undefined && fix !== true) {
    printStyled(style("dim", `      --fix would ${printableLine(finding.fix)}`));
  }
}

function mark({ severity, fixed }: Finding): string {
  if (fixed === true) return style("green", "✓");
  if (severity === "info") return style("dim", "·");
  return severity === "error" ? style("red", "✗") : style("yellow", "!");
}

function summary({ findings, fixed, checked }: DoctorReport, { fix }: DoctorCommandOptions): string {
  const { agents, sessions, transcripts } = checked;
  const looked = `${count(agents, "agent")}, ${count(sessions, "session")}, ${count(transcripts, "transcript")}`;
  const open = findings.filter(isOpenProblem);
  const mended = fixed === 0 ? "" : `${count(fixed, "problem")} mended. `;
  if (open.length === 0) return `${mended}No problems ${fixed === 0 ? "found" : "left"} (${looked})`;
  const mendable = fix === true ? 0 : open.filter((finding) => finding.fix !== undefined).length;
  const advice = mendable === 0 ? "" : `; \`holdfast doctor --fix\` mends ${mendable}`;
  return `${mended}${count(open.length, "problem")} ${fixed === 0 ? "found" : "left"} (${looked})${advice}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
