/**
 * What Holdfast keeps beside an OpenClaw `sessions.json`, in a file of its own because OpenClaw
 * would not understand it: windows, leases, inbox, outbox and hand-offs. A sidecar is a value: whoever changes
 * it replaces members of a copy, so that equal members of two sidecars are the same objects.
 */
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import type { InboxItem, Lease, OutboxItem, Window } from "../store.ts";
import { corrupt } from "./json-document.ts";
import { isRecord, shallowCopy } from "./json-value.ts";

/** 2: with hand-offs. An older Holdfast would lose them, so it must not take the file for one of its own. */
const SIDECAR_VERSION = 2;

export interface Sidecar {
  windows: Record<string, readonly Window[]>;
  leases: Record<string, LeaseRecord>;
  /** By id; ids of inbox and outbox rise in the order of arrival and are never used again. */
  inbox: Record<string, InboxItem>;
  outbox: Record<string, OutboxItem>;
  handoffs: Record<string, HandoffRecord>;
  nextId: number;
}

/** Stays when a lease is given back and when its session is deleted: the epoch never falls. */
interface LeaseRecord {
  epoch: number;
  /** Missing when the lease was given back. */
  held?: Lease;
}

/** In the order of their changes, the newest last. */
interface HandoffRecord {
  updatedAt: number;
  state: unknown;
}

export function sidecarPath(sessionsFile: string): string {
  return join(dirname(sessionsFile), `${basename(sessionsFile, ".json")}.holdfast.json`);
}

export function emptySidecar(): Sidecar {
  return copySidecar({ windows: {}, leases: {}, inbox: {}, outbox: {}, handoffs: {}, nextId: 1 });
}

/** A sidecar of its own with the same members. */
export function copySidecar(sidecar: Sidecar): Sidecar {
  return {
    windows: shallowCopy(sidecar.windows),
    leases: shallowCopy(sidecar.leases),
    inbox: shallowCopy(sidecar.inbox),
    outbox: shallowCopy(sidecar.outbox),
    handoffs: shallowCopy(sidecar.handoffs),
    nextId: sidecar.nextId,
  };
}

export function sameSidecar(a: Sidecar, b: Sidecar): boolean {
  return CONTAINERS.every((name) => sameMembers(a[name], b[name])) && a.nextId === b.nextId;
}

export function sameMembers(a: Readonly<JsonRecord>, b: Readonly<JsonRecord>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

const CONTAINERS = ["windows", "leases", "inbox", "outbox", "handoffs"] as const;

const MEMBER_CHECKS: Record<(typeof CONTAINERS)[number], (member: unknown) => boolean> = {
  windows: (member) => Array.isArray(member) && member.every(isWindow),
  leases: (member) => isRecord(member) && Number.isSafeInteger(member["epoch"]),
  inbox: isItem,
  outbox: isItem,
  handoffs: (member) => isRecord(member) && typeof member["updatedAt"] === "number" && "state" in member,
};

export function parseSidecar(path: string, written: Readonly<JsonRecord>): Sidecar {
  const { version } = written;
  if (typeof version === "number" && version > SIDECAR_VERSION) throw newerVersion(path, version);
  if (version !== 1 && version !== SIDECAR_VERSION) throw corrupt(path, "it has no known version");
  const value = version === 1 ? withHandoffs(written) : written;
  const { nextId } = value;
  if (typeof nextId !== "number" || !Number.isSafeInteger(nextId)) throw corrupt(path, "nextId is missing");
  for (const name of CONTAINERS) {
    const container = value[name];
    if (!isRecord(container)) throw corrupt(path, `${name} is missing`);
    const damaged = Object.keys(container).find((key) => !MEMBER_CHECKS[name](container[key]));
    if (damaged !== undefined) throw corrupt(path, `${name} has something else than expected under "${damaged}"`);
  }
  return copySidecar(value as unknown as Sidecar);
}

/** What a damaged sidecar still yields: every member that is whole. */
export function salvageSidecar(value: Readonly<JsonRecord>): Sidecar {
  const whole = (name: (typeof CONTAINERS)[number]): JsonRecord => {
    const container = value[name];
    const members = isRecord(container) ? Object.entries(container) : [];
    return Object.fromEntries(members.filter(([, member]) => MEMBER_CHECKS[name](member)));
  };
  const containers = Object.fromEntries(CONTAINERS.map((name) => [name, whole(name)]));
  const salvaged = copySidecar({ ...(containers as unknown as Sidecar), nextId: 1 });
  const usedIds = [...Object.values(salvaged.inbox), ...Object.values(salvaged.outbox)].map(({ id }) => id + 1);
  const { nextId } = value;
  return { ...salvaged, nextId: Math.max(1, ...(Number.isSafeInteger(nextId) ? [nextId as number] : []), ...usedIds) };
}

/** From version 1 to 2. The file itself changes with the next write. */
function withHandoffs(value: Readonly<JsonRecord>): JsonRecord {
  return { ...value, handoffs: {} };
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
  return new HoldfastError(
    "unsupported",
    "store-too-new",
    `${path} was written by a newer Holdfast (version ${version})`,
    {
      hint: `This Holdfast reads version ${SIDECAR_VERSION}. Nothing was changed; install the newer one to go on.`,
      data: { path, version },
    },
  );
}
