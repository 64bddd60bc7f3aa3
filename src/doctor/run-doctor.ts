/**
 * Runs every check of every agent, and mends if asked to. The order matters: what one check mends,
 * later ones rely on. A check that fails is itself a finding, and the others go on.
 */
import { join } from "node:path";
import { HoldfastError, errorMessage, systemErrorCode } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import { agentsFolder, cacheFolder, claudeLayout } from "../config/layout.ts";
import { systemClock } from "../base/clock.ts";
import type { DeliveryRoute } from "../store/store.ts";
import type { AgentScope } from "./agent-scope.ts";
import { checkArchive } from "./check-archive.ts";
import { checkPairing, listChannelFolders } from "./check-channels.ts";
import { type GatewayFacts, checkGateway } from "./check-gateway.ts";
import { checkKeys } from "./check-keys.ts";
import { checkLeases } from "./check-leases.ts";
import { checkLeftovers, checkLocks } from "./check-leftovers.ts";
import { checkOrphans } from "./check-orphans.ts";
import { checkPending } from "./check-pending.ts";
import { checkPermissions } from "./check-permissions.ts";
import { type QueueFacts, checkQueues } from "./check-queues.ts";
import { checkStore } from "./check-store.ts";
import { checkTranscripts } from "./check-transcripts.ts";
import { checkView } from "./check-view.ts";
import { checkWindows } from "./check-windows.ts";
import { type Check, type CheckName, type Finding, isOpenProblem } from "./finding.ts";
import { listTranscripts } from "./folders.ts";

export interface DoctorOptions {
  home: string;
  /** Mend what can be mended. */
  fix: boolean;
  agents: readonly AgentScope[];
  /** Why the configuration cannot be used; then nobody knows the stores, and `agents` is empty. */
  configProblem?: string | undefined;
  /** Left out: there is none, and was none. */
  gateway?: GatewayFacts;
  /** Whether a gateway of this configuration would deliver there. Left out: not known. */
  isConfigured?: (route: DeliveryRoute) => boolean;
}

export interface DoctorReport {
  /** No problem is left. */
  ok: boolean;
  /** How many were mended. */
  fixed: number;
  findings: Finding[];
  checked: Checked;
}

interface Checked {
  agents: number;
  sessions: number;
  transcripts: number;
}

export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const { home, fix, agents, configProblem, gateway = NO_GATEWAY } = options;
  const findings: Finding[] = [];
  const checked: Checked = { agents: agents.length, sessions: 0, transcripts: 0 };

  const ofHome = createTreatment(findings, { fix });
  const claude = claudeLayout(home);
  const folders = [
    home,
    agentsFolder(home),
    cacheFolder(home),
    claude.root,
    claude.locksFolder,
    claude.archiveFolder,
    ...(await listChannelFolders(home)),
  ];
  if (configProblem !== undefined) findings.push(invalidConfiguration(configProblem));
  await ofHome.check("permissions", checkPermissions(folders));
  await ofHome.check("leftovers", checkLeftovers(folders));
  await ofHome.check("locks", checkLocks(folders));
  await ofHome.check("gateway", checkGateway(home, gateway));
  await ofHome.check("channels", checkPairing(home, systemClock));

  const gatewayMayRun = gateway.state === "running" || gateway.state === "elsewhere";
  const queues: QueueFacts = { gatewayMayRun, isConfigured: options.isConfigured };
  for (const scope of agents) {
    const treatment = createTreatment(findings, { fix, agent: scope.agentId });
    await exclusively(scope, fix, async () => await examineAgent(scope, { fix, treatment, checked, queues }));
  }
  return {
    ok: !findings.some(isOpenProblem),
    fixed: findings.filter(({ fixed }) => fixed === true).length,
    findings,
    checked,
  };
}

const NO_GATEWAY: GatewayFacts = { state: "none" };

function invalidConfiguration(message: string): Finding {
  return { check: "configuration", severity: "error", message: `${message}. Until it is valid, no agent is checked` };
}

/** Two doctors must not mend the same agent at the same time. */
async function exclusively<T>({ layout }: AgentScope, fix: boolean, task: () => Promise<T>): Promise<T> {
  return fix ? await withFileLock(join(layout.root, "doctor.lock"), {}, task) : await task();
}

interface Treatment {
  /** Runs a check and mends what it finds, if that is wanted. */
  check(name: CheckName, check: Check): Promise<void>;
  /** Runs a task whose failure is a finding. */
  attempt(name: CheckName, task: () => Promise<void>): Promise<void>;
}

function createTreatment(findings: Finding[], { fix, agent }: { fix: boolean; agent?: string }): Treatment {
  const about = agent === undefined ? {} : { agent };
  const attempt = async (check: CheckName, task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      if (!isForeseeable(error)) throw error;
      findings.push({ check, ...about, severity: "error", message: `This could not be checked: ${tell(error)}` });
    }
  };
  return {
    attempt,
    check: async (check, diagnoses) =>
      await attempt(check, async () => {
        for await (const { finding: found, mend } of diagnoses) {
          const finding: Finding = { check, ...about, ...found };
          findings.push(finding);
          if (fix && mend !== undefined) Object.assign(finding, await outcomeOf(mend));
        }
      }),
  };
}

async function outcomeOf(mend: () => Promise<void>): Promise<Pick<Finding, "fixed" | "failure">> {
  try {
    await mend();
    return { fixed: true };
  } catch (error) {
    if (!isForeseeable(error)) throw error;
    return { fixed: false, failure: tell(error) };
  }
}

/** What a disk, another process or damaged data can cause. Everything else is a defect. */
function isForeseeable(error: unknown): boolean {
  return error instanceof HoldfastError || systemErrorCode(error) !== undefined;
}

function tell(error: unknown): string {
  const hint = error instanceof HoldfastError ? error.hint : undefined;
  return hint === undefined ? errorMessage(error) : `${errorMessage(error)}. ${hint}`;
}

interface Run {
  fix: boolean;
  treatment: Treatment;
  checked: Checked;
  queues: QueueFacts;
}

async function examineAgent(scope: AgentScope, run: Run): Promise<void> {
  const { layout } = scope;
  const { treatment, checked, queues } = run;
  const folders = [layout.root, layout.sessionsFolder, layout.archiveFolder];
  await treatment.check("permissions", checkPermissions(folders));
  await treatment.check("leftovers", checkLeftovers(folders));
  await treatment.check("locks", checkLocks(folders));
  await treatment.check("pending", checkPending(scope, queues));
  await treatment.check("store", checkStore(scope));
  await treatment.check("keys", checkKeys(scope));
  checked.transcripts += (await listTranscripts(layout.sessionsFolder)).length;
  await treatment.attempt("store", async () => await examineSessions(scope, run));
}

async function examineSessions(scope: AgentScope, { fix, treatment, checked, queues }: Run): Promise<void> {
  const { repair } = scope;
  if (!(await fileExists(repair.path)) || (await repair.diagnose()) !== undefined) return;
  using _unchanged = fix ? undefined : await repair.preserve?.();
  const agent = await scope.open();
  try {
    await treatment.check("view", checkView(scope, agent));
    await treatment.check("leases", checkLeases(agent));
    await treatment.check("queues", checkQueues(agent, queues));
    await treatment.check("archive", checkArchive(agent));
    await treatment.check("windows", checkWindows(agent));
    await treatment.check("orphans", checkOrphans(agent));
    await treatment.check("transcripts", checkTranscripts(agent, scope));
    checked.sessions += (await agent.store.list({ limit: 0, fields: [] })).total;
  } finally {
    await agent.store.close();
  }
}
