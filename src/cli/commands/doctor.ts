/** `holdfast doctor`: finds damage in the home and repairs it with `--fix`. */
import { readdir, stat } from "node:fs/promises";
import { systemClock } from "../../base/clock.ts";
import { ERROR_KINDS, HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import { agentLayout, configFile, gatewayLayout, resolveHome } from "../../config/layout.ts";
import { type Finding, isOpenProblem, type AgentScope, type SharedScope } from "../../doctor/finding.ts";
import { type DoctorReport, runDoctor } from "../../doctor/run-doctor.ts";
import { findGateway, gatewayState, readToken } from "../../gateway/gateway-files.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import type { Flags, Texts } from "../command.ts";
import { type Setup, loadSetup } from "../context.ts";
import { plural, print, printJson, printStyled, style } from "../output.ts";
import type { GatewayFacts } from "../../doctor/check-home.ts";
import { printableLine } from "../../base/text.ts";
import { configuredAccounts } from "../../config/config.ts";
import { listAgentIds, openAgent, openStoreRepair } from "../../compose/agent.ts";
import type { DeliveryRoute } from "../../store/queues.ts";

type DoctorCommandOptions = Flags<"json" | "fix" | "deep"> & Texts<"acknowledge" | "agent">;

export async function doctor(options: DoctorCommandOptions): Promise<void> {
  const home = resolveHome();
  const exists = await isReadableFolder(home);
  const report = await withOpenClaw(home, exists ? await examine(home, options) : EMPTY_REPORT);
  if (options.json === true) printJson(report);
  else if (exists || report.findings.length > 0) printReport(report, options);
  else print(`No problems found: ${home} is empty.`);
  process.exitCode = report.ok ? 0 : ERROR_KINDS.degraded.exitCode;
}

const EMPTY_REPORT: DoctorReport = {
  ok: true,
  fixed: 0,
  findings: [],
  checked: { agents: 0, sessions: 0, transcripts: 0 },
};

/** A home without sessions may have those of OpenClaw. */
async function withOpenClaw(home: string, report: DoctorReport): Promise<DoctorReport> {
  if (report.checked.sessions > 0) return report;
  const { describeOpenClawDatabases } = await import("../../import/openclaw.ts");
  const message = await describeOpenClawDatabases(home);
  if (message === undefined) return report;
  return { ...report, findings: [...report.findings, { check: "openclaw", severity: "info", message }] };
}

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
  const agents = setup === undefined ? [] : await agentScopes(setup, options);
  const gateway = await gatewayFacts(home);
  const isConfigured = setup && routesOf(setup);
  const { fix = false, acknowledge } = options;
  const report = await runDoctor({ home, fix, acknowledge, agents, configProblem, gateway, isConfigured });
  const isDone = report.findings.some(({ check, fixed }) => check === "transcripts" && fixed === true);
  if (acknowledge !== undefined && !isDone) throw nothingLost(acknowledge);
  return report;
}

function nothingLost(named: string): HoldfastError {
  return new HoldfastError("not-found", "nothing-to-acknowledge", `No loss is reported for ${named}`, {
    hint: "Run `holdfast doctor` and give a file from its findings, or `all`.",
  });
}

async function gatewayFacts(home: string): Promise<GatewayFacts> {
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

/** The web page and the command line need no configuration. */
function routesOf({ config }: Setup): (route: DeliveryRoute) => boolean {
  const known = configuredAccounts(config);
  return ({ channel, accountId }) =>
    channel === "web" || channel === "cli" || known.some((one) => one.name === channel && one.accountId === accountId);
}

/** An invalid configuration is a finding, not a reason to stop. */
async function loadSetupOrProblem(): Promise<{ setup?: Setup | undefined; configProblem?: string | undefined }> {
  try {
    return { setup: await loadSetup() };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { configProblem: error.message };
  }
}

async function agentScopes(setup: Setup, options: DoctorCommandOptions): Promise<(AgentScope | SharedScope)[]> {
  const known = await listAgentIds(setup.home);
  const wanted = options.agent === undefined ? undefined : normalizeAgentId(options.agent);
  if (wanted !== undefined && !known.includes(wanted)) throw noSuchAgent(wanted);
  const chosen = wanted === undefined ? known : [wanted];
  return await Promise.all(
    chosen.map(async (agentId) => ({
      agentId,
      mainKey: setup.config.session.mainKey,
      layout: agentLayout(setup.home, agentId),
      repair: setup.config.store.kind === "postgres" ? undefined : await openStoreRepair({ ...setup, agentId }),
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
  if (finding.fixed === true) printStyled(style("dim", `      repaired: ${printableLine(finding.fix ?? "")}`));
  else if (finding.failure !== undefined) printStyled(`      could not be repaired: ${printableLine(finding.failure)}`);
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
  const looked = `${plural(agents, "agent")}, ${plural(sessions, "session")}, ${plural(transcripts, "transcript")}`;
  const open = findings.filter(isOpenProblem);
  const repaired = fixed === 0 ? "" : `${plural(fixed, "problem")} repaired. `;
  if (open.length === 0) return `${repaired}No problems ${fixed === 0 ? "found" : "left"} (${looked})`;
  const fixable = fix === true ? 0 : open.filter((finding) => finding.fix !== undefined).length;
  const advice = fixable === 0 ? "" : `; \`holdfast doctor --fix\` repairs ${fixable}`;
  return `${repaired}${plural(open.length, "problem")} ${fixed === 0 ? "found" : "left"} (${looked})${advice}`;
}
