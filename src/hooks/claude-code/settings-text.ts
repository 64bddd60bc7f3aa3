/**
 * Adds and removes our entries in the text of a settings.json, and keeps every other character. Throws a
 * `SettingsProblem` if that is impossible.
 */
import { isDeepStrictEqual } from "node:util";
import JSON5 from "json5";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { type JsonPlace, type Member, addMember, cutMember, memberOf, readPlaces } from "../../base/json-places.ts";
import { CLAUDE_HOOK_EVENTS, type ClaudeHookEvent, type HookEntry, isOurCommand } from "./hook-call.ts";

/** Explains to a person why a text cannot be edited. Never quotes the text: it may hold secrets. */
export class SettingsProblem extends Error {
  override readonly name = "SettingsProblem";
}

export type Entries = Readonly<Record<ClaudeHookEvent, HookEntry>>;

/** Returns the same text if nothing changes. */
export function withEntries(text: string, entries: Entries): string {
  const before = parseSettings(text);
  if (text.trim() === "") return `${JSON.stringify(addedTo({}, entries), undefined, 2)}\n`;
  let after = text;
  for (const event of CLAUDE_HOOK_EVENTS) after = withEntry(after, event, entries[event]);
  return checked(before, after);
}

/** `keep`: events whose lists existed before ours. */
export function withoutEntries(text: string, keep: { hooks: boolean; events: readonly string[] }): string {
  const before = parseSettings(text);
  let after = text;
  for (;;) {
    const own = ownEntries(after)[0];
    if (own === undefined) break;
    const isEmptied = own.group.entries.members.length === 1;
    after = cutMember(after, isEmptied && own.group.isBare ? own.group.member : own.entry);
    const hooks = memberOf(readPlaces(after), "hooks");
    const list = memberOf(hooks?.value, own.event);
    if (list?.value.members.length === 0 && !keep.events.includes(own.event)) after = cutMember(after, list);
  }
  const hooks = memberOf(readPlaces(after), "hooks");
  const isEmptied = after !== text && hooks?.value.kind === "object" && hooks.value.members.length === 0;
  if (isEmptied && !keep.hooks) after = cutMember(after, hooks);
  return checked(before, after);
}

/** Which of the members that we need already exist. */
export function placesThere(text: string): { hooks: boolean; events: string[] } {
  const hooks = parseSettings(text)["hooks"];
  return isRecord(hooks) ? { hooks: true, events: Object.keys(hooks) } : { hooks: false, events: [] };
}

export function hasEntries(text: string): boolean {
  parseSettings(text);
  return ownEntries(text).length > 0;
}

/** True if the file disables all hooks. */
export function turnsHooksOff(text: string): boolean {
  return parseSettings(text)["disableAllHooks"] === true;
}

function parseSettings(text: string): JsonRecord {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON5.parse(text);
  } catch (error) {
    const { lineNumber, columnNumber } = error as {
      lineNumber?: number | undefined;
      columnNumber?: number | undefined;
    };
    throw new SettingsProblem(`it is not valid JSON (line ${lineNumber ?? "?"}, column ${columnNumber ?? "?"})`);
  }
  if (!isRecord(value)) throw new SettingsProblem("it is not a JSON object");
  const hooks = value["hooks"];
  if (hooks !== undefined && !isRecord(hooks)) throw new SettingsProblem('its "hooks" are no object');
  for (const event of CLAUDE_HOOK_EVENTS) {
    const list = hooks?.[event];
    if (list !== undefined && !Array.isArray(list)) throw new SettingsProblem(`its "hooks.${event}" is not a list`);
  }
  return value;
}

function withEntry(text: string, event: ClaudeHookEvent, entry: HookEntry): string {
  const [first, ...others] = ownEntries(text).filter((own) => own.event === event);
  if (first === undefined) return withNewEntry(text, event, entry);
  const last = others.at(-1);
  if (last !== undefined) {
    const isEmptied = last.group.entries.members.length === 1 && last.group.isBare;
    return withEntry(cutMember(text, isEmptied ? last.group.member : last.entry), event, entry);
  }
  const { start, end } = first.command;
  const isSame = JSON5.parse(text.slice(start, end)) === entry.command;
  return isSame ? text : `${text.slice(0, start)}${JSON.stringify(entry.command)}${text.slice(end)}`;
}

function withNewEntry(text: string, event: ClaudeHookEvent, entry: HookEntry): string {
  const root = readPlaces(text);
  if (root === undefined) throw new SettingsProblem("it is not a JSON object");
  const group = { hooks: [entry] };
  const hooks = memberOf(root, "hooks");
  if (hooks === undefined) return addMember(text, root, { [event]: [group] }, "hooks");
  const list = memberOf(hooks.value, event);
  if (list === undefined) return addMember(text, hooks.value, [group], event);
  return addMember(text, list.value, group);
}

interface OwnEntry {
  event: string;
  entry: Member;
  command: JsonPlace;
  group: {
    member: Member;
    entries: JsonPlace;
    /** The group has no member but its hooks. */
    isBare: boolean;
  };
}

function ownEntries(text: string): OwnEntry[] {
  const hooks = memberOf(readPlaces(text), "hooks")?.value;
  const found: OwnEntry[] = [];
  for (const { name: event = "", value: list } of hooks?.members ?? []) {
    if (list.kind !== "array") continue;
    for (const member of list.members) {
      const entries = memberOf(member.value, "hooks")?.value;
      if (entries?.kind !== "array") continue;
      const group = { member, entries, isBare: member.value.members.length === 1 };
      for (const entry of entries.members) {
        const command = memberOf(entry.value, "command")?.value;
        if (command === undefined || !isOurCommand(valueAt(text, command))) continue;
        found.push({ event, entry, command, group });
      }
    }
  }
  return found;
}

function valueAt(text: string, { start, end }: JsonPlace): unknown {
  return JSON5.parse(text.slice(start, end));
}

function addedTo(settings: JsonRecord, entries: Entries): JsonRecord {
  return {
    ...settings,
    hooks: Object.fromEntries(Object.entries(entries).map(([event, entry]) => [event, [{ hooks: [entry] }]])),
  };
}

/** Everything else must mean the same afterwards. */
function checked(before: JsonRecord, after: string): string {
  const meant = parseSettings(after);
  if (isDeepStrictEqual(othersOf(before), othersOf(meant))) return after;
  throw new SettingsProblem("our entries cannot be changed without changing more");
}

function othersOf(settings: JsonRecord): JsonRecord {
  const { hooks, ...rest } = settings;
  const others = Object.entries(isRecord(hooks) ? hooks : {}).flatMap(([event, list]) => {
    if (!Array.isArray(list)) return [[event, list] as const];
    const groups = list.map(withoutOwn).filter((group) => group !== undefined);
    return groups.length === 0 ? [] : [[event, groups] as const];
  });
  return { ...rest, hooks: Object.fromEntries(others) };
}

function withoutOwn(group: unknown): unknown {
  if (!isRecord(group) || !Array.isArray(group["hooks"])) return group;
  const entries = group["hooks"].filter((entry: unknown) => !isRecord(entry) || !isOurCommand(entry["command"]));
  const isOurs = entries.length === 0 && group["hooks"].length > 0 && Object.keys(group).length === 1;
  return isOurs ? undefined : { ...group, hooks: entries };
}
