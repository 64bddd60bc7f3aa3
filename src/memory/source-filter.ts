/** Who asks, and what of it they want to see: both become conditions of the query, so ranking never depends on more. */
import type { SQLInputValue } from "node:sqlite";
import { ABOUT_PLACE, PASSAGE_BITS } from "./index-database.ts";
import { type SourceKind, SOURCE_KINDS } from "./sources.ts";

/** A person sees everything on their machine. */
export const PERSON = "person";

interface AgentAsker {
  /** Sees its own memory, transcripts and native sessions. */
  agentId: string;
  /** Also native sessions that no agent started and that worked in one of these folders or below. */
  repoRoots?: readonly string[] | undefined;
}

export type Asker = AgentAsker | typeof PERSON;

export interface SearchFilter {
  /** Only passages written in this folder or below. */
  repo?: string | undefined;
  /** Default: all. */
  kinds?: readonly SourceKind[] | undefined;
  role?: "user" | "assistant" | undefined;
  /** In ms. */
  since?: number | undefined;
  sessionIds?: readonly string[] | undefined;
  /** Only sessions and memory of this agent. */
  owner?: string | undefined;
  /** Only sessions that changed this file. Several folders deep or just the name. */
  file?: string | undefined;
}

/** Conditions on a row of `words` or `passages`, whose id is `id`. */
export interface RowFilter {
  sql(id: string): string;
  values: SQLInputValue[];
}

export function rowFilter(asker: Asker, filter: SearchFilter): RowFilter {
  const sources: SQLInputValue[] = [];
  const conditions = asker === PERSON ? [] : [visibleTo(asker, sources)];
  // A condition on sources is checked for every match, so none is added that always holds.
  const kinds = filter.kinds ?? SOURCE_KINDS;
  if (kinds.length < SOURCE_KINDS.length) {
    conditions.push(`s.kind IN (${kinds.map(() => "?").join(", ")})`);
    sources.push(...kinds);
  }
  if (filter.sessionIds !== undefined) {
    conditions.push("s.session_id IN (SELECT value FROM json_each(?))");
    sources.push(JSON.stringify(filter.sessionIds));
  }
  if (filter.owner !== undefined) {
    conditions.push("s.owner = ?");
    sources.push(filter.owner);
  }
  if (filter.file !== undefined) conditions.push(changedFile(filter.file, sources));
  const passages: SQLInputValue[] = [];
  const onPassage = passageConditions(filter, passages);
  return {
    sql: (id) => {
      const parts: string[] = [];
      if (conditions.length > 0) {
        const all = conditions.join(" AND ");
        parts.push(`EXISTS (SELECT 1 FROM sources s WHERE s.id = (${id} >> ${PASSAGE_BITS}) AND ${all})`);
      }
      if (onPassage.passage.length > 0) {
        const passage = `EXISTS (SELECT 1 FROM passages p WHERE p.id = ${id} AND ${onPassage.passage.join(" AND ")})`;
        const isAbout = `(${id} & ${ABOUT_PLACE}) = ${ABOUT_PLACE}`;
        const about = `EXISTS (SELECT 1 FROM sources s WHERE s.id = (${id} >> ${PASSAGE_BITS}) AND ${onPassage.about.join(" AND ")})`;
        parts.push(`CASE WHEN ${isAbout} THEN ${about} ELSE ${passage} END`);
      }
      return parts.length === 0 ? "TRUE" : parts.join(" AND ");
    },
    // In the order of the conditions: the text about a session repeats those of passages.
    values: [...sources, ...passages, ...passages],
  };
}

function visibleTo({ agentId, repoRoots = [] }: AgentAsker, values: SQLInputValue[]): string {
  values.push(agentId);
  if (repoRoots.length === 0) return "s.owner = ?";
  const inRoots = folderCondition("f.folder", repoRoots, values);
  const worked = `EXISTS (SELECT 1 FROM source_folders f WHERE f.source_id = s.id AND ${inRoots})`;
  return `(s.owner = ? OR (s.kind = 'native' AND s.owner IS NULL AND s.settled = 1 AND ${worked}))`;
}

/** Each condition for a passage has one for the text about its session, with the same values. */
function passageConditions(filter: SearchFilter, values: SQLInputValue[]): { passage: string[]; about: string[] } {
  const passage: string[] = [];
  const about: string[] = [];
  if (filter.role !== undefined) {
    passage.push("p.role = ?");
    // Not part of the conversation.
    about.push("? IS NULL");
    values.push(filter.role);
  }
  if (filter.since !== undefined) {
    passage.push("p.at >= ?");
    about.push("s.last_at >= ?");
    values.push(filter.since);
  }
  if (filter.repo !== undefined) {
    passage.push(folderCondition("p.folder", [filter.repo], values));
    about.push(folderCondition("s.folder", [filter.repo], []));
  }
  return { passage, about };
}

/** Compares ranges, so that pattern characters in a path have no meaning. */
function folderCondition(column: string, folders: readonly string[], values: SQLInputValue[]): string {
  const conditions = folders.map((folder) => {
    const base = folder.length > 1 && folder.endsWith("/") ? folder.slice(0, -1) : folder;
    // "0" is the character after "/".
    const below = base === "/" ? ["/", "0"] : [`${base}/`, `${base}0`];
    values.push(base, ...below);
    return `${column} = ? OR (${column} >= ? AND ${column} < ?)`;
  });
  return `(${conditions.join(" OR ")})`;
}

/** The file itself, or any path that ends with it. */
function changedFile(file: string, values: SQLInputValue[]): string {
  const name = file.replace(/^\.?\//, "");
  const ending = `/${name}`;
  values.push(file, name, ending.length, ending);
  return `EXISTS (SELECT 1 FROM edits e WHERE e.source_id = s.id
    AND (e.path = ? OR e.path = ? OR substr(e.path, -?) = ?))`;
}
