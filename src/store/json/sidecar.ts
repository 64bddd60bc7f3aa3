/**
 * Holdfast's file beside an OpenClaw `sessions.json`: windows, leases, inbox, outbox, hand-offs and pending items. A
 * sidecar is a value: a change replaces members of a copy, so equal members of two sidecars are the same objects.
 */
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import { type PendingQueue, isPendingQueue } from "../pending.ts";
import type { InboxItem, OutboxItem } from "../queues.ts";
import type { StoredLease } from "../rows.ts";
import type { Window } from "../store.ts";
import { corrupt, isRecord, shallowCopy } from "./json-document.ts";

/** Raised whenever a container is added, because an older Holdfast would lose its content. */
const SIDECAR_VERSION = 3;

export interface Sidecar {
  windows: Record<string, readonly Window[]>;
  leases: Record<string, StoredLease>;
  /** By id. Ids of inbox and outbox rise in the order of arrival and are never reused. */
  inbox: Record<string, InboxItem>;
  outbox: Record<string, OutboxItem>;
  handoffs: Record<string, HandoffRecord>;
  /** In the order of the last added item. */
  history: Record<string, PendingQueue>;
  systemEvents: Record<string, PendingQueue>;
  nextId: number;
}

/** In the order of their changes. */
interface HandoffRecord {
  updatedAt: number;
  state: unknown;
}

export function sidecarPath(sessionsFile: string): string {
  return join(dirname(sessionsFile), `${basename(sessionsFile, ".json")}.holdfast.json`);
}

export function emptySidecar(): Sidecar {
  return sidecarOf(() => ({}), 1);
}

export function copySidecar(sidecar: Sidecar): Sidecar {
  return sidecarOf((name) => sidecar[name], sidecar.nextId);
}

function sidecarOf(container: (name: Container) => JsonRecord, nextId: number): Sidecar {
  const containers = Object.fromEntries(CONTAINERS.map((name) => [name, shallowCopy(container(name))]));
  return { ...containers, nextId } as unknown as Sidecar;
}

export function sameSidecar(a: Sidecar, b: Sidecar): boolean {
  return CONTAINERS.every((name) => sameMembers(a[name], b[name])) && a.nextId === b.nextId;
}

export function sameMembers(a: Readonly<JsonRecord>, b: Readonly<JsonRecord>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

const CONTAINERS = ["windows", "leases", "inbox", "outbox", "handoffs", "history", "systemEvents"] as const;

type Container = (typeof CONTAINERS)[number];

const MEMBER_CHECKS: Record<Container, (member: unknown) => boolean> = {
  windows: (member) => Array.isArray(member) && member.every(isWindow),
  leases: (member) => isRecord(member) && Number.isSafeInteger(member["epoch"]),
  inbox: isItem,
  outbox: isItem,
  handoffs: (member) => isRecord(member) && typeof member["updatedAt"] === "number" && "state" in member,
  history: isPendingQueue,
  systemEvents: isPendingQueue,
};

export function parseSidecar(path: string, written: Readonly<JsonRecord>): Sidecar {
  const { version } = written;
  if (typeof version === "number" && version > SIDECAR_VERSION) throw newerVersion(path, version);
  if (version !== 1 && version !== 2 && version !== SIDECAR_VERSION) throw corrupt(path, "it has no known version");
  const value = withNewContainers(written, version);
  const { nextId } = value;
  if (typeof nextId !== "number" || !Number.isSafeInteger(nextId)) throw corrupt(path, "nextId is missing");
  for (const name of CONTAINERS) {
    const container = value[name];
    if (!isRecord(container)) throw corrupt(path, `${name} is missing`);
    const damaged = Object.keys(container).find((key) => !MEMBER_CHECKS[name](container[key]));
    if (damaged !== undefined) throw corrupt(path, `${name} has an unexpected value under "${damaged}"`);
  }
  return copySidecar(value as unknown as Sidecar);
}

/** The valid members of a damaged sidecar. */
export function salvageSidecar(value: Readonly<JsonRecord>): Sidecar {
  const salvaged = sidecarOf((name) => {
    const container = value[name];
    const members = isRecord(container) ? Object.entries(container) : [];
    return Object.fromEntries(members.filter(([, member]) => MEMBER_CHECKS[name](member)));
  }, 1);
  const usedIds = [...Object.values(salvaged.inbox), ...Object.values(salvaged.outbox)].map(({ id }) => id + 1);
  const { nextId } = value;
  return { ...salvaged, nextId: Math.max(1, ...(Number.isSafeInteger(nextId) ? [nextId as number] : []), ...usedIds) };
}

/** Version 1 has no hand-offs, version 2 no pending items. The file itself changes with the next write. */
function withNewContainers(value: Readonly<JsonRecord>, version: number): Readonly<JsonRecord> {
  if (version === SIDECAR_VERSION) return value;
  return { ...value, ...(version === 1 ? { handoffs: {} } : {}), history: {}, systemEvents: {} };
}

export function sidecarToJson(sidecar: Sidecar): JsonRecord {
  return { version: SIDECAR_VERSION, ...sidecar };
}

function isWindow(value: unknown): boolean {
  return isRecord(value) && typeof value["sessionId"] === "string" && typeof value["openedAt"] === "number";
}

function isItem(value: unknown): boolean {
  const hasPlace = isRecord(value) && typeof value["key"] === "string" && typeof value["state"] === "string";
  return hasPlace && Number.isSafeInteger(value["id"]);
}

function newerVersion(path: string, version: number): HoldfastError {
  const message = `${path} was written by a newer Holdfast (version ${version})`;
  const hint = `This Holdfast reads version ${SIDECAR_VERSION}. Nothing was changed. Install the newer Holdfast.`;
  return new HoldfastError("unsupported", "store-too-new", message, { hint, data: { path, version } });
}
