/**
 * The latest decisions of an agent about sessions, kept in its registry: the candidates, who judged them, and the
 * suggestion that a person overrode by naming a session.
 */
import { isRecord } from "../../base/json-record.ts";
import type { ScoreFactors, SessionSelection } from "../selection/selection.ts";
import { type OwnPart, type RegistryDocument, ownPart } from "./registry-file.ts";

export interface KeptDecision {
  /** ISO. */
  at: string;
  /** The session that the task ran in. */
  sessionId: string;
  repoPath: string;
  task: string;
  selection: KeptSelection;
  /** What the selection would have chosen, if the caller named a session or a fresh one. */
  suggested?: KeptSelection | undefined;
}

export interface KeptSelection extends Omit<SessionSelection, "scores" | "suggested"> {
  /** The best ones. */
  candidates: KeptCandidate[];
  /** How many there were. */
  considered: number;
}

interface KeptCandidate {
  sessionId: string;
  score: number;
  factors: ScoreFactors;
  relevance: number;
  reason: string;
  evidence: string[];
}

const MAX_DECISIONS = 100;
const MAX_CANDIDATES = 5;

export function keepDecision(
  document: RegistryDocument,
  run: Pick<KeptDecision, "at" | "sessionId" | "repoPath" | "task">,
  { suggested, ...selection }: SessionSelection,
): void {
  const own = ownPart(document);
  const kept: KeptDecision = {
    ...run,
    selection: shortened(selection),
    suggested: suggested === undefined ? undefined : shortened(suggested),
  };
  own["decisions"] = [...listOf(own), kept].slice(-MAX_DECISIONS);
}

function shortened({ scores, ...selection }: Omit<SessionSelection, "suggested">): KeptSelection {
  const candidates = scores.slice(0, MAX_CANDIDATES).map(({ relevance, evidence, score, ...rest }) => ({
    sessionId: rest.sessionId,
    score,
    factors: rest.factors,
    relevance: relevance.relevance,
    reason: rest.reason,
    evidence: evidence.map(({ text }) => text),
  }));
  return { ...selection, candidates, considered: scores.length };
}

function listOf(own: OwnPart): unknown[] {
  return Array.isArray(own["decisions"]) ? (own["decisions"] as unknown[]) : [];
}

/** Oldest first. Skips entries that cannot be read. */
export function keptDecisions(document: RegistryDocument): KeptDecision[] {
  return listOf(ownPart(document)).filter(isKeptDecision);
}

function isKeptDecision(value: unknown): value is KeptDecision {
  if (!isRecord(value)) return false;
  const texts = [value["at"], value["sessionId"], value["task"]];
  const suggested = value["suggested"];
  return (
    texts.every((text) => typeof text === "string") &&
    isKeptSelection(value["selection"]) &&
    (suggested === undefined || isKeptSelection(suggested))
  );
}

function isKeptSelection(value: unknown): value is KeptSelection {
  return (
    isRecord(value) &&
    typeof value["action"] === "string" &&
    typeof value["reason"] === "string" &&
    Array.isArray(value["candidates"]) &&
    value["candidates"].every(isKeptCandidate)
  );
}

function isKeptCandidate(value: unknown): value is KeptCandidate {
  if (!isRecord(value)) return false;
  const { sessionId, reason, score, relevance } = value;
  return [sessionId, reason].every((text) => typeof text === "string") && isNumber(score) && isNumber(relevance);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

/** Whether the selection, had it decided alone, would have used the same session. */
export function isAsSuggested({ selection, suggested }: KeptDecision): boolean {
  if (suggested === undefined) return true;
  return (
    suggested.sessionId === selection.sessionId && (suggested.action === "fresh") === (selection.action === "fresh")
  );
}
