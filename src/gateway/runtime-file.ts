/**
 * Where the gateway of a home listens, for commands that look for it. A file that a killed gateway left
 * behind deceives nobody: it names the process, and a pid that was used again is another process.
 */
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ensurePrivateFolder, readFileIfPresent, writeFileDurable } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import { isRecord } from "../base/json-record.ts";
import { type ProcessIdentity, currentProcess, processState } from "../base/processes.ts";
import { gatewayLayout } from "../config/layout.ts";

export interface RunningGateway {
  url: string;
  port: number;
  version: string;
  /** In ms. */
  startedAt: number;
  process: ProcessIdentity;
}

/** Undefined when none runs on this machine. */
export async function findGateway(home: string): Promise<RunningGateway | undefined> {
  const running = parse(await readFileIfPresent(gatewayLayout(home).runtimeFile));
  return running !== undefined && processState(running.process) === "alive" ? running : undefined;
}

/** What the note says about its gateway; `elsewhere` is on another machine, `ended` left it behind. */
export async function gatewayState(home: string): Promise<"none" | "running" | "elsewhere" | "ended"> {
  const content = await readFileIfPresent(gatewayLayout(home).runtimeFile);
  if (content === undefined) return "none";
  const known = parse(content);
  if (known === undefined) return "ended";
  return STATES[processState(known.process)];
}

const STATES = { alive: "running", dead: "ended", unknown: "elsewhere" } as const;

/** False when another living gateway of this home has the file already. */
export async function announceGateway(home: string, gateway: Omit<RunningGateway, "process">): Promise<boolean> {
  const { runtimeFile } = gatewayLayout(home);
  await ensurePrivateFolder(dirname(runtimeFile));
  // Of two that start at the same time, the second one must see the first.
  return await withFileLock(`${runtimeFile}.lock`, {}, async () => {
    const other = await findGateway(home);
    if (other !== undefined && other.process.pid !== process.pid) return false;
    const content: RunningGateway = { ...gateway, process: currentProcess() };
    await writeFileDurable(runtimeFile, `${JSON.stringify(content, undefined, 2)}\n`);
    return true;
  });
}

/** Leaves the file of another gateway alone. */
export async function withdrawGateway(home: string, url: string): Promise<void> {
  const { runtimeFile } = gatewayLayout(home);
  const known = parse(await readFileIfPresent(runtimeFile));
  if (known?.process.pid === process.pid && known.url === url) await rm(runtimeFile, { force: true });
}

/** A file that cannot be understood announces nothing. */
function parse(content: Buffer | undefined): RunningGateway | undefined {
  try {
    const value: unknown = JSON.parse(String(content));
    if (!isRecord(value) || !isRecord(value["process"])) return undefined;
    const { url, port, version, startedAt } = value;
    const { pid, startedAt: since, host } = value["process"];
    if (typeof url !== "string" || !isLoopback(url) || typeof port !== "number") return undefined;
    if (typeof version !== "string" || typeof startedAt !== "number") return undefined;
    if (typeof pid !== "number" || typeof since !== "string" || typeof host !== "string") return undefined;
    return { url, port, version, startedAt, process: { pid, startedAt: since, host } };
  } catch {
    return undefined;
  }
}

/** The token goes to this address: a file that somebody has changed must not send it elsewhere. */
function isLoopback(url: string): boolean {
  return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url);
}
