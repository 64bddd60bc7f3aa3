/**
 * Takes over what OpenClaw keeps besides sessions: settings, skills, hooks, and registries of Claude Code sessions.
 * A value, folder or record that is already here is never replaced. Hooks arrive disabled: their code runs only after
 * the person has read and enabled it.
 */
import { cp, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HoldfastError } from "../base/errors.ts";
import {
  ensurePrivateFolder,
  fileExists,
  readFolderIfPresent,
  realPath,
  sweepFolder,
  temporaryPath,
} from "../base/files.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { registryPath } from "../claude/registry/registry.ts";
import {
  type RegistryDocument,
  amount,
  changeRegistryFile,
  ownPart,
  readRegistryFile,
  registeredSessions,
  roundSum,
} from "../claude/registry/registry-file.ts";
import { readConfigText } from "../config/config-file.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { getConfigValue, setConfigValue } from "../config/edit.ts";
import { formatKeyPath, schemaAt } from "../config/key-path.ts";
import { configFile, hooksFolder, workspaceHooksFolder } from "../config/layout.ts";
import { readHookContent } from "../hooks/enabled-hooks.ts";
import { findHooks } from "../hooks/find-hooks.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { ImportItem } from "./report.ts";
import { stringOf } from "./transcripts.ts";

export interface SettingsOptions {
  /** OpenClaw's folder. */
  from: string;
  home: string;
  config: HoldfastConfig;
  /** By the dotted path of every value that is not a default. */
  origins: ReadonlyMap<string, string>;
  dryRun: boolean;
  add: (item: ImportItem) => void;
}

/** Undefined if there is no `openclaw.json`. */
export async function readOpenClawConfig(from: string): Promise<JsonRecord | undefined> {
  const path = join(from, "openclaw.json");
  const text = readConfigText(path);
  if (text === undefined) return undefined;
  const { parseConfigText } = await import("../config/config-text.ts");
  const parsed = parseConfigText(text);
  if ("value" in parsed && isRecord(parsed.value)) return parsed.value;
  const reason = "problem" in parsed ? parsed.problem : "it is not a JSON object";
  const hint = "Correct the file and import again.";
  throw new HoldfastError("corrupt", "openclaw-config-unreadable", `${path} cannot be read: ${reason}`, { hint });
}

export async function takeSettings(openClaw: JsonRecord, options: SettingsOptions): Promise<void> {
  const { jsonSchema } = await import("../config/schema.ts");
  const root = jsonSchema();
  const agents = membersOf(openClaw["agents"]);
  const blocks: [string[], unknown][] = [
    [["session"], openClaw["session"]],
    [["claudeCode"], claudeBlock(agents["defaults"]) ?? openClaw["claudeCode"]],
    ...agentsOf(openClaw).map(({ id, agent }): [string[], unknown] => [
      ["agents", id, "claudeCode"],
      claudeBlock(agent),
    ]),
  ];
  for (const [path, value] of blocks) {
    for (const leaf of leavesOf(path, value)) await takeSetting(leaf, options);
  }
  const others = Object.keys(openClaw).filter((name) => name !== "session" && name !== "claudeCode");
  for (const name of others) {
    const reason = name === "agents" ? "only its Claude Code settings are imported" : "not imported";
    options.add({ kind: "setting", name, outcome: "left", reason });
  }

  function* leavesOf(path: string[], value: unknown): Generator<{ path: string[]; value: unknown; isKnown: boolean }> {
    const schema = schemaAt(root, path);
    const isBranch = schema?.properties !== undefined || typeof schema?.additionalProperties === "object";
    if (value === undefined) return;
    if (!isBranch || !isRecord(value)) yield { path, value, isKnown: schema !== undefined };
    else for (const [name, member] of Object.entries(value)) yield* leavesOf([...path, name], member);
  }
}

interface Leaf {
  path: string[];
  value: unknown;
  isKnown: boolean;
}

async function takeSetting({ path, value, isKnown }: Leaf, options: SettingsOptions): Promise<void> {
  const { home, config, origins, dryRun, add } = options;
  const key = formatKeyPath(path);
  const item = { kind: "setting" as const, name: key };
  if (!isKnown) return add({ ...item, outcome: "left", reason: "no counterpart" });
  const { checkConfigValue } = await import("../config/config-text.ts");
  const alone = path.toReversed().reduce<unknown>((inner, name) => ({ [name]: inner }), value);
  const checked = checkConfigValue(alone, "user");
  if ("problems" in checked) return add({ ...item, outcome: "left", reason: checked.problems.join("; ") });
  if (isDeepStrictEqual(await getConfigValue(config, key), value)) return add({ ...item, outcome: "here" });
  const dotted = path.join(".");
  const isSet = [...origins.keys()].some((set) => set === dotted || set.startsWith(`${dotted}.`));
  if (isSet) return add({ ...item, outcome: "left", reason: "it has another value here" });
  if (!dryRun) await setConfigValue({ path: configFile(home), key, rawValue: JSON.stringify(value) });
  add({ ...item, outcome: "taken" });
}

function claudeBlock(agent: unknown): unknown {
  return membersOf(membersOf(agent)["subagents"])["claudeCode"];
}

function agentsOf(openClaw: JsonRecord): { id: string; agent: JsonRecord }[] {
  const { list } = membersOf(openClaw["agents"]);
  const agents: unknown[] = Array.isArray(list) ? list : [];
  return agents.filter(isRecord).map((agent) => ({ id: normalizeAgentId(stringOf(agent["id"]) ?? ""), agent }));
}

function membersOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** The agent's workspace in OpenClaw. */
export function openClawWorkspace(from: string, openClaw: JsonRecord, agentId: string): string {
  const own = agentsOf(openClaw).find(({ id }) => id === agentId)?.agent["workspace"];
  const shared = membersOf(membersOf(openClaw["agents"])["defaults"])["workspace"];
  const named = stringOf(own) ?? stringOf(shared);
  if (named !== undefined) return resolve(named.replace(/^~(?=\/|$)/, homedir()));
  return join(from, agentId === "main" ? "workspace" : `workspace-${agentId}`);
}

interface AgentPlaces {
  agentId: string;
  /** OpenClaw's folder of the agent. */
  source: string;
  /** Holdfast's folder of the agent. */
  workspace: string;
}

export async function takeSkills({ agentId, source, workspace }: AgentPlaces, options: SettingsOptions): Promise<void> {
  for (const root of new Set([join(options.from, "skills"), join(source, "skills")])) {
    for (const { name } of await readFolderIfPresent(root)) {
      if (!(await fileExists(join(root, name, "SKILL.md")))) continue;
      const copy = { kind: "skill" as const, name, agentId, source: join(root, name) };
      await takeFolder({ ...copy, target: join(workspace, "skills", name) }, options);
    }
  }
}

/** Hooks in OpenClaw's own folder go to ours; those in the agent's folder stay the agent's. */
export async function takeHooks({ agentId, source, workspace }: AgentPlaces, options: SettingsOptions): Promise<void> {
  const { from, home, config, dryRun, add } = options;
  const present = await findHooks({ home, workspace });
  for (const { name, folder, source: place } of await findHooks({ home: from, workspace: source, bundledFolder: "" })) {
    const isShared = place === "home";
    const target = join(isShared ? hooksFolder(home) : workspaceHooksFolder(workspace), basename(folder));
    const hook = { kind: "hook" as const, name, agentId: isShared ? undefined : agentId };
    const twin = present.find((other) => other.name === name && other.folder !== (realPath(target) ?? target));
    const isEnabled = config.hooks.entries[name]?.enabled === true;
    if (twin !== undefined || (isEnabled && !(await fileExists(target)))) {
      add({ ...hook, outcome: "left", reason: twin === undefined ? "this name is enabled here" : NAME_TAKEN });
      continue;
    }
    // Disabled before it is there: a hook in our folder would run at once.
    const disable = async (): Promise<void> => {
      const key = formatKeyPath(["hooks", "entries", name, "enabled"]);
      if (isShared) await setConfigValue({ path: configFile(home), key, rawValue: "false" });
    };
    await takeFolder({ ...hook, source: folder, target, before: disable }, { dryRun, add });
  }
}

const NAME_TAKEN = "another one of this name is already here";

interface FolderCopy extends Pick<ImportItem, "kind" | "name" | "agentId"> {
  source: string;
  target: string;
  before?: (() => Promise<void>) | undefined;
}

async function takeFolder(copy: FolderCopy, { dryRun, add }: Pick<SettingsOptions, "dryRun" | "add">): Promise<void> {
  const { source, target, before, ...item } = copy;
  if (realPath(source) === realPath(target)) return add({ ...item, outcome: "here" });
  try {
    const { digest } = await readHookContent(source);
    if (await fileExists(target)) {
      const isSame = (await readHookContent(target)).digest === digest;
      return add({ ...item, ...(isSame ? { outcome: "here" } : { outcome: "left", reason: NAME_TAKEN }) });
    }
    if (!dryRun) {
      await before?.();
      await ensurePrivateFolder(dirname(target));
      // Hidden, so that no one takes it for the finished one.
      const hidden = `.${basename(target)}`;
      await sweepFolder(dirname(target), hidden);
      const unfinished = temporaryPath(join(dirname(target), hidden));
      await cp(source, unfinished, { recursive: true });
      await rename(unfinished, target);
    }
    add({ ...item, outcome: "taken", reason: item.kind === "hook" ? "disabled until you enable it" : undefined });
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    add({ ...item, outcome: "left", reason: error.message });
  }
}

/** Claude Code sessions with their costs, labels and tasks. */
export async function takeRegistry(
  { path, agentId }: { path: string; agentId: string },
  { home, dryRun, add }: SettingsOptions,
): Promise<void> {
  const found = await readRegistryFile(path);
  if (found === undefined) return;
  const from = realPath(path) ?? path;
  const target = registryPath({ home, agentId });
  if (realPath(target) === from) return;
  const planned = structuredClone((await readRegistryFile(target)) ?? { sessions: {} });
  const items = mergeRegistry(planned, found, from);
  for (const item of items) add({ ...item, agentId });
  if (dryRun || items.every(({ outcome }) => outcome !== "taken")) return;
  await changeRegistryFile(target, {}, (document) => void mergeRegistry(document, found, from));
}

function mergeRegistry(document: RegistryDocument, found: RegistryDocument, from: string): ImportItem[] {
  const { former } = ownPart(document);
  const records = [
    ...Object.entries(found.sessions).map(([key, record]) => ({ key, record })),
    ...Object.values(membersOf(membersOf(found["holdfast"])["former"])).map((record) => ({ key: undefined, record })),
  ];
  return records.flatMap(({ key, record }): ImportItem[] => {
    const sessionId = isRecord(record) ? stringOf(record["sessionId"]) : undefined;
    if (!isRecord(record) || sessionId === undefined) {
      const reason = "its entry in the registry names no session";
      return [{ kind: "claude code session", name: key ?? "", outcome: "left", reason }];
    }
    const { repoPath, label } = registeredSessions("", { sessions: { [key ?? ""]: record } })[0] ?? {};
    const current = key === undefined ? undefined : document.sessions[key];
    const isSame = isRecord(current) && current["sessionId"] === sessionId;
    const isFree = key !== undefined && current === undefined;
    // Another session has this repo and label here: the imported one is a former one.
    const [place, name] = isSame || isFree ? [document.sessions, key ?? sessionId] : [former, sessionId];
    const known = membersOf(place[name]);
    const before = isRecord(known["imported"]) && known["imported"]["from"] === from ? known["imported"] : undefined;
    const figures = {
      totalCostUsd: amount(record["totalCostUsd"]) ?? 0,
      totalTurns: amount(record["totalTurns"]) ?? 0,
    };
    const item = { kind: "claude code session" as const, name: sessionId, label };
    if (isDeepStrictEqual(before, { from, ...figures })) return [{ ...item, outcome: "here" }];
    const added = (figure: keyof typeof figures): number =>
      roundSum((amount(known[figure]) ?? 0) + figures[figure] - (amount(before?.[figure]) ?? 0));
    place[name] = {
      ...record,
      repoPath,
      ...(label === undefined ? {} : { label }),
      ...known,
      totalCostUsd: added("totalCostUsd"),
      totalTurns: added("totalTurns"),
      taskHistory: mergeTasks(record["taskHistory"], known["taskHistory"]),
      imported: { from, ...figures },
    };
    return [{ ...item, outcome: "taken" }];
  });
}

function mergeTasks(found: unknown, known: unknown): unknown[] {
  const own: unknown[] = Array.isArray(known) ? known : [];
  const others: unknown[] = Array.isArray(found) ? found : [];
  return [...others.filter((task) => !own.some((one) => isDeepStrictEqual(one, task))), ...own];
}
