/** What an import found, took and left. `docs/import.md` describes the JSON. */

export type ItemKind =
  | "session"
  | "archived session"
  | "waiting message"
  | "claude code session"
  | "setting"
  | "skill"
  | "hook"
  | "database"
  | "file";

export interface ImportItem {
  kind: ItemKind;
  /** A session key, a session id, a setting, the name of a skill or hook, or a path. */
  name: string;
  agentId?: string | undefined;
  /** `here`: it was already here, and nothing changed. */
  outcome: "taken" | "here" | "left";
  reason?: string | undefined;
  label?: string | undefined;
  windows?: Figures | undefined;
  messages?: Figures | undefined;
  /** Something is damaged, newer or in use, so the import is not complete. */
  isProblem?: true | undefined;
}

export interface Figures {
  found: number;
  taken: number;
}

export type ImportReport = ReturnType<typeof createReport>;

export function createReport(place: { from: string; home: string; dryRun: boolean }, items: readonly ImportItem[]) {
  const isProblem = items.some((item) => item.isProblem === true);
  return { schema: 1, ok: !isProblem, ...place, counts: countItems(items), items };
}

const COUNTED = ["session", "archived session", "claude code session", "setting", "skill", "hook"] as const;
const NAMES: Record<(typeof COUNTED)[number], string> = {
  session: "sessions",
  "archived session": "archivedSessions",
  "claude code session": "claudeCodeSessions",
  setting: "settings",
  skill: "skills",
  hook: "hooks",
};

/** By name: how many were found, taken, already here and left. A session in two sources counts once. */
function countItems(items: readonly ImportItem[]): Record<string, Figures & { here: number; left: number }> {
  const rows = COUNTED.map((kind) => {
    const byName = Map.groupBy(
      items.filter((item) => item.kind === kind),
      ({ agentId, name }) => `${agentId} ${name}`,
    );
    const outcomes = Array.from(byName.values(), (same) => same.map(({ outcome }) => outcome));
    const taken = outcomes.filter((same) => same.includes("taken")).length;
    const left = outcomes.filter((same) => same.every((outcome) => outcome === "left")).length;
    const found = outcomes.length;
    return [NAMES[kind], { found, taken, here: found - taken - left, left }] as const;
  });
  const figures = (["windows", "messages"] as const).map((name) => {
    const found = items.reduce((sum, item) => sum + (item[name]?.found ?? 0), 0);
    const taken = items.reduce((sum, item) => sum + (item[name]?.taken ?? 0), 0);
    return [name, { found, taken, here: found - taken, left: 0 }] as const;
  });
  return Object.fromEntries([...rows.slice(0, 2), ...figures, ...rows.slice(2)]);
}
