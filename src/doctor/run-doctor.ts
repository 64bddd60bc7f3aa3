/**
 * Runs every check on the home and on every agent, and repairs if asked to. The order matters: later checks rely on the
 * repairs of earlier ones. A check that fails becomes a finding, and the next checks still run.
 */
import { basename, join, resolve } from "node:path";
import { closing } from "../base/async.ts";
import { systemClock } from "../base/clock.ts";
import { HoldfastError, systemErrorCode, messageWithHint } from "../base/errors.ts";
import { fileExists, foldersWithin } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import { agentsFolder, cacheFolder, claudeLayout, searchIndexFile, type AgentLayout } from "../config/layout.ts";
import { checkArchive, checkOrphans, checkWindows } from "./check-windows.ts";
import { type QueueFacts, checkCluster, checkQueues, checkLeases } from "./check-queues.ts";
import { checkStore, checkKeys, checkView } from "./check-store.ts";
import { checkTranscripts } from "./check-transcripts.ts";
import { listTranscriptFiles } from "../transcript/paths.ts";
import { type Diagnosis, type Finding, isOpenProblem, type AgentScope, type SharedScope } from "./finding.ts";
import {
  type GatewayFacts,
  checkGateway,
  checkIndexes,
  checkLeftovers,
  checkLocks,
  checkPairing,
  checkPermissions,
  checkWorktrees,
  listChannelFolders,
} from "./check-home.ts";

export interface DoctorOptions extends Pick<QueueFacts, "isConfigured"> {
  home: string;
  fix: boolean;
  /** A loss that a person acknowledges: the file that a finding names, its transcript, or `all`. Optional. */
  acknowledge?: string | undefined;
  agents: readonly (AgentScope | SharedScope)[];
  /** Why the configuration is invalid; then `agents` is empty, because the stores are unknown. */
  configProblem?: string | undefined;
  /** Default: no gateway. */
  gateway?: GatewayFacts | undefined;
}

export type DoctorReport = Awaited<ReturnType<typeof runDoctor>>;

export async function runDoctor(options: DoctorOptions) {
  const { fix, acknowledge, agents, gateway, isConfigured } = options;
  const gatewayMayRun = gateway?.state === "running" || gateway?.state === "elsewhere";
  const findings: Finding[] = [];
  const checked = { agents: agents.length, sessions: 0, transcripts: 0 };
  await examineHome(options, createExaminer(findings, { fix }));
  for (const scope of agents) {
    const mayChange = fix || acknowledge !== undefined;
    const examiner = createExaminer(findings, { fix, acknowledge, agent: scope.agentId });
    const task = async (): Promise<void> =>
      await examineAgent(scope, { examiner, mayChange, checked, queues: { gatewayMayRun, isConfigured } });
    // Two doctors must not repair the same agent at the same time.
    if (mayChange) await withFileLock(join(scope.layout.root, "doctor.lock"), {}, task);
    else await task();
  }
  return {
    ok: !findings.some(isOpenProblem),
    fixed: findings.filter(({ fixed }) => fixed === true).length,
    findings,
    checked,
  };
}

async function examineHome(options: DoctorOptions, examiner: Examiner): Promise<void> {
  const { home, agents, configProblem, gateway = { state: "none" } } = options;
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
  if (configProblem !== undefined) examiner.addFailure("configuration", `${configProblem}. ${NO_AGENT_CHECKED}`);
  await examiner.check("permissions", checkPermissions(folders));
  const ofAgents = new Set(agents.flatMap(({ layout }) => foldersOf(layout)));
  const ownFolders = (await foldersWithin(home)).filter((folder) => !ofAgents.has(folder));
  await examiner.check("leftovers", checkLeftovers(ownFolders));
  await examiner.check("locks", checkLocks(folders));
  await examiner.check("gateway", checkGateway(home, gateway));
  await examiner.check("channels", checkPairing(home, systemClock));
  await examiner.check("indexes", checkIndexes([claude.index, searchIndexFile(home)]));
  await examiner.check("worktrees", checkWorktrees(claude.worktreesFolder));
}

const NO_AGENT_CHECKED = "No agent is checked until it is valid";

interface AgentExamination {
  examiner: Examiner;
  /** Repairs or acknowledgements may change files. */
  mayChange: boolean;
  checked: DoctorReport["checked"];
  queues: QueueFacts;
}

async function examineAgent(scope: AgentScope | SharedScope, examination: AgentExamination): Promise<void> {
  const { examiner, checked } = examination;
  const folders = foldersOf(scope.layout);
  await examiner.check("permissions", checkPermissions(folders));
  await examiner.check("leftovers", checkLeftovers(folders));
  await examiner.check("locks", checkLocks(folders));
  if (scope.repair === undefined) {
    await examiner.attempt("store", async () => await examineShared(scope, examination));
    return;
  }
  await examiner.check("store", checkStore(scope));
  await examiner.check("keys", checkKeys(scope));
  checked.transcripts += (await listTranscriptFiles(scope.layout.sessionsFolder)).length;
  await examiner.attempt("store", async () => await examineSessions(scope, examination));
}

function foldersOf({ root, sessionsFolder, archiveFolder }: AgentLayout): string[] {
  return [root, sessionsFolder, archiveFolder];
}

async function examineSessions(scope: AgentScope, examination: AgentExamination): Promise<void> {
  const { examiner, mayChange, checked, queues } = examination;
  const { repair } = scope;
  if (!(await fileExists(repair.path)) || (await repair.diagnose()) !== undefined) return;
  using _unchanged = mayChange ? undefined : await repair.preserve?.();
  const agent = await scope.open();
  await using _closing = closing(agent.store);
  await examiner.check("view", checkView(scope, agent));
  await examiner.check("leases", checkLeases(agent));
  await examiner.check("queues", checkQueues(agent, queues));
  await examiner.check("archive", checkArchive(agent));
  await examiner.check("windows", checkWindows(agent));
  await examiner.check("orphans", checkOrphans(agent));
  await examiner.check("transcripts", checkTranscripts(agent, scope));
  checked.sessions += (await agent.store.list({ limit: 0, fields: [] })).total;
}

/** The files of this machine are copies, and other nodes may be at work: only the queues and the cluster are checked. */
async function examineShared(scope: SharedScope, { examiner, checked, queues }: AgentExamination): Promise<void> {
  const agent = await scope.open();
  await using _closing = closing(agent.store);
  await examiner.check("cluster", checkCluster(agent));
  await examiner.check("queues", checkQueues(agent, queues));
  checked.sessions += (await agent.store.list({ limit: 0, fields: [] })).total;
}

type Examiner = ReturnType<typeof createExaminer>;

function createExaminer(
  findings: Finding[],
  { fix, acknowledge, agent }: { fix: boolean; acknowledge?: string | undefined; agent?: string | undefined },
) {
  const about = agent === undefined ? {} : { agent };
  const addFailure = (check: string, message: string): void =>
    void findings.push({ check, ...about, severity: "error", message });
  const attempt = async (check: string, task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      if (!isForeseeable(error)) throw error;
      addFailure(check, `The check failed: ${messageWithHint(error)}`);
    }
  };
  return {
    addFailure,
    attempt,
    /** Runs a check and its repairs, if wanted. The check runs lazily, so it sees the repairs of its findings. */
    check: async (check: string, diagnoses: AsyncIterable<Diagnosis>): Promise<void> =>
      await attempt(check, async () => {
        for await (const diagnosis of diagnoses) {
          const { repair, lostFrom: _, acknowledge: endReport, ...found } = diagnosis;
          const finding: Finding = { check, ...about, ...found };
          findings.push(finding);
          const isMeant = acknowledge !== undefined && isAbout(diagnosis, acknowledge);
          if (repair !== undefined && (fix || isMeant)) Object.assign(finding, await outcomeOf(repair));
          if (isMeant && endReport !== undefined) {
            Object.assign(finding, { fix: ACKNOWLEDGED, ...(await outcomeOf(endReport)) });
          }
        }
      }),
  };
}

const ACKNOWLEDGED = "acknowledged; the file is kept with .acknowledged at the end of its name";

function isAbout({ lostFrom, path: own }: Diagnosis, named: string): boolean {
  if (lostFrom === undefined) return false;
  const paths = [lostFrom, own ?? lostFrom];
  return named === "all" || paths.some((path) => path === resolve(named) || basename(path) === named);
}

async function outcomeOf(repair: () => Promise<void>): Promise<Pick<Finding, "fixed" | "failure">> {
  try {
    await repair();
    return { fixed: true };
  } catch (error) {
    if (!isForeseeable(error)) throw error;
    return { fixed: false, failure: messageWithHint(error) };
  }
}

/** Errors of the disk, other processes or damaged data. Any other error is a bug. */
function isForeseeable(error: unknown): boolean {
  return error instanceof HoldfastError || systemErrorCode(error) !== undefined;
}
