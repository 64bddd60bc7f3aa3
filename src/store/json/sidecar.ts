/**
 * What Holdfast keeps beside an OpenClaw `sessions.json`, in a file of its own because OpenClaw
 * would not understand it: windows, leases, inbox and outbox. A sidecar is a value: whoever changes
 * it replaces members of a copy, so that equal members of two sidecars are the same objects.
 */
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import type { InboxItem, Lease, OutboxItem, Window } from "../store.ts";
import { corrupt } from "./json-document.ts";
import { isRecord, shallowCopy } from "./json-value.ts";

const SIDECAR_VERSION = 1;

export interface Sidecar {
  windows: Record<string, readonly Window[]>;
  leases: Record<string, LeaseRecord>;
  /** By id; ids of inbox and outbox rise in the order of arrival and are never used again. */
  inbox: Record<string, InboxItem>;
  outbox: Record<string, OutboxItem>;
  nextId: number;
}

/** Stays when a lease is given back and when its session is deleted: the epoch never falls. */
interface LeaseRecord {
  epoch: number;
  /** Missing when the lease was given back. */
  held?: Lease;
}

export function sidecarPath(sessionsFile: string): string {
  return join(dirname(sessionsFile), `${basename(sessionsFile, ".json")}.holdfast.json`);
}

export function emptySidecar(): Sidecar {
  return copySidecar({ windows: {}, leases: {}, inbox: {}, outbox: {}, nextId: 1 });
}

/** A sidecar of its own with the same members. */
export function copySidecar(sidecar: Sidecar): Sidecar {
  return {
    windows: shallowCopy(sidecar.windows),
    leases: shallowCopy(sidecar.leases),
    inbox: shallowCopy(sidecar.inbox),
    outbox: shallowCopy(sidecar.outbox),
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

const CONTAINERS = ["windows", "leases", "inbox", "outbox"] as const;

const MEMBER_CHECKS: Record<(typeof CONTAINERS)[number], (member: unknown) => boolean> = {
  windows: (member) => Array.isArray(member) && member.every(isWindow),
  leases: (member) => isRecord(member) && Number.isSafeInteger(member["epoch"]),
  inbox: isItem,
  outbox: isItem,
};

export function parseSidecar(path: string, value: Readonly<JsonRecord>): Sidecar {
  const { version, nextId } = value;
  if (typeof version === "number" && version > SIDECAR_VERSION) throw newerVersion(path, version);
  if (version !== SIDECAR_VERSION) throw corrupt(path, "it has no known version");
  if (typeof nextId !== "number" || !Number.isSafeInteger(nextId)) throw corrupt(path, "nextId is missing");
  for (const name of CONTAINERS) {
    const container = value[name];
    if (!isRecord(container)) throw corrupt(path, `${name} is missing`);
    const damaged = Object.keys(container).find((key) => !MEMBER_CHECKS[name](container[key]));
    if (damaged !== undefined) throw corrupt(path, `${name} has something else than expected under "${damaged}"`);
  }
  return copySidecar(value as unknown as Sidecar);
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
