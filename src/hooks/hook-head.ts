/** What a `HOOK.md` says about its hook, in OpenClaw's form or directly in its head. */
import { errorMessage } from "../base/errors.ts";
import { frontmatterLines } from "../base/frontmatter.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { printableLine } from "../base/printable.ts";
import { closestMatch } from "../base/suggest.ts";
import { readHeadTree } from "./head-tree.ts";
import { HOOK_EVENTS, type HookEventName } from "./hook.ts";

export interface HookHead {
  name: string;
  description: string;
  events: readonly HookEventName[];
  requires: HookRequirements;
  /** What is wrong with it. Left out: nothing. */
  problem?: string;
}

/** Everything that a hook needs. `anyBins`: one of these programs; `os`: one of these systems. */
export interface HookRequirements {
  bins: readonly string[];
  anyBins: readonly string[];
  env: readonly string[];
  config: readonly string[];
  os: readonly string[];
}

export const NO_REQUIREMENTS: HookRequirements = { bins: [], anyBins: [], env: [], config: [], os: [] };

/** As in `hooks.entries` of the configuration. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

/** `fallbackName` is that of the folder. Never throws: what cannot be understood is the head's problem. */
export async function readHookHead(text: string, fallbackName: string): Promise<HookHead> {
  const blank: HookHead = { name: fallbackName, description: "", events: [], requires: NO_REQUIREMENTS };
  const lines = frontmatterLines(text);
  if (lines === undefined) return { ...blank, problem: "HOOK.md does not begin with a head between two lines of ---" };
  try {
    const tree = await readHeadTree(lines);
    return isRecord(tree) ? interpret(tree, blank) : { ...blank, problem: "the head of HOOK.md has no names" };
  } catch (error) {
    return { ...blank, problem: `the head of HOOK.md is not valid: ${printableLine(errorMessage(error), 200)}` };
  }
}

function interpret(tree: JsonRecord, blank: HookHead): HookHead {
  const own = openClawPart(tree["metadata"]);
  const name = typeof tree["name"] === "string" && tree["name"] !== "" ? tree["name"] : blank.name;
  const events = namesOf(tree["events"] ?? own["events"]);
  const requires = requirementsOf(tree["requires"] ?? own["requires"], tree["os"] ?? own["os"]);
  const head: HookHead = {
    name: NAME.test(name) ? name : blank.name,
    description: printableLine(typeof tree["description"] === "string" ? tree["description"] : "", 300),
    events: expandEvents(events ?? []),
    requires: requires ?? NO_REQUIREMENTS,
  };
  const problem =
    (NAME.test(name) ? undefined : nameProblem(name)) ??
    eventsProblem(events) ??
    (requires === undefined ? "`requires` must hold lists of names (bins, anyBins, env, config, os)" : undefined);
  return problem === undefined ? head : { ...head, problem };
}

/** Under the names that OpenClaw has had. */
function openClawPart(metadata: unknown): JsonRecord {
  if (!isRecord(metadata)) return {};
  const own = metadata["openclaw"] ?? metadata["moltbot"] ?? metadata["clawdbot"];
  return isRecord(own) ? own : {};
}

function requirementsOf(value: unknown, os: unknown): HookRequirements | undefined {
  if (value !== undefined && !isRecord(value)) return undefined;
  const given = value ?? {};
  const [bins, anyBins, env, config] = [given["bins"], given["anyBins"], given["env"], given["config"]].map(namesOf);
  const systems = namesOf(given["os"] ?? os);
  if (!bins || !anyBins || !env || !config || !systems) return undefined;
  return { bins, anyBins, env, config, os: systems };
}

/** A list, or one text with commas; undefined for anything else. Left out is empty. */
function namesOf(value: unknown): string[] | undefined {
  if (value === undefined) return [];
  const list: unknown[] = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [undefined];
  const names = list.map((item) => (typeof item === "string" ? printableLine(item, 100) : ""));
  return names.includes("") ? undefined : names;
}

/** `command` is every event that begins with it, as in OpenClaw. */
function expandEvents(names: readonly string[]): HookEventName[] {
  return HOOK_EVENTS.filter((event) => names.some((name) => name === event || event.startsWith(`${name}:`)));
}

function eventsProblem(names: readonly string[] | undefined): string | undefined {
  if (names === undefined) return "`events` must be a list of names";
  if (names.length === 0) return `it names no events: one or more of ${HOOK_EVENTS.join(", ")}`;
  const unknown = names.find((name) => expandEvents([name]).length === 0);
  if (unknown === undefined) return undefined;
  const near = closestMatch(unknown, HOOK_EVENTS);
  return `unknown event "${unknown}"; ${near === undefined ? `there is ${HOOK_EVENTS.join(", ")}` : `did you mean ${near}?`}`;
}

function nameProblem(name: string): string {
  return `"${printableLine(name, 80)}" is no name for a hook: up to 64 letters, digits, dots, dashes and underscores`;
}
