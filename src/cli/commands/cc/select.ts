/** `holdfast cc select` explains which session fits a task; `cc eval` measures selection on labelled cases. */
import { resolve } from "node:path";
import { HoldfastError } from "../../../base/errors.ts";
import { fileExists } from "../../../base/files.ts";
import { shortId } from "../../../base/ids.ts";
import { createLogger } from "../../../base/log.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { ExpectedDecision } from "../../../claude/selection/cases.ts";
import type { Evaluation, MethodResult } from "../../../claude/selection/evaluate.ts";
import { type SessionSelection, shownPoints } from "../../../claude/selection/selection.ts";
import {
  flexible,
  plural,
  right,
  printHanging,
  printJson,
  printStyled,
  printTable,
  talk,
  print,
  style,
} from "../../output.ts";
import { type ClaudeOptions, candidatesFor, requireFolder, surenessText, withClaude } from "./claude-side.ts";
import type { Counts, Flags, Texts } from "../../command.ts";
import type { SelectionRow } from "../../../claude/selection/score.ts";
import { printableLine } from "../../../base/text.ts";

type SelectOptions = ClaudeOptions & Texts<"repo" | "label"> & Counts<"limit"> & { from?: "own" | "all" | undefined };

const DEFAULT_LIMIT = 10;

export async function explainChoice(task: string, options: SelectOptions): Promise<void> {
  const folder = requireFolder(options.repo);
  await withClaude(options, async (side) => {
    const choice = { label: options.label, candidates: candidatesFor(options.from, side) };
    const { selection, sessions } = await side.select(task, folder, choice);
    if (options.json === true) printJson(selection);
    else await printChoice(selection, sessions, options.limit ?? DEFAULT_LIMIT);
  });
}

async function printChoice(
  selection: SessionSelection,
  sessions: readonly DiscoveredSession[],
  limit: number,
): Promise<void> {
  printHanging("", selection.reason);
  const sure = surenessText(selection);
  if (sure !== undefined) printHanging("", `${sure}.`);
  const { explainSelection } = await import("../../../claude/selection/score.ts");
  const rows = explainSelection(selection, sessions);
  if (rows.length === 0) return;
  const shown = rows.slice(0, limit);
  printStyled("");
  printFactors(shown);
  printStyled("");
  for (const row of shown) printReasons(row);
  if (rows.length > shown.length) talk(`${rows.length - shown.length} more; --limit ${rows.length} shows all.`);
  const failure = selection.relevanceFailure?.replace(/\.$/, "");
  if (failure !== undefined) talk(`No answer from a model: ${failure}.`);
}

function printFactors(rows: readonly SelectionRow[]): void {
  printTable(
    ["ID", ...["SCORE", "BRANCH", "RECENT", "TASK", "HEALTH", "ROOM"].map(right), "VERDICT", flexible("SESSION")],
    rows.map(({ sessionId, score, factors, verdict, candidate, ceiling }) => [
      shortId(sessionId),
      // The score of a session that is not eligible would mislead.
      ceiling === undefined ? shownPoints(score) : "-",
      factors.branchMatch.toFixed(2),
      factors.recency.toFixed(2),
      factors.taskRelevance.toFixed(2),
      factors.sessionHealth.toFixed(2),
      factors.contextCapacity.toFixed(2),
      verdict,
      candidate,
    ]),
  );
}

function printReasons({ sessionId, relevance, reasoning, ceiling, evidence }: SelectionRow): void {
  const why = `relevance ${relevance.toFixed(2)}${reasoning === "" ? "" : `: ${reasoning}`}`;
  printHanging(`${shortId(sessionId)}  `, why);
  const indent = " ".repeat(10);
  if (ceiling !== undefined) printHanging(indent, `not eligible: ${ceiling}`, { text: "yellow" });
  for (const text of evidence) if (text !== ceiling) printHanging(indent, text, { text: "dim" });
}

type EvalOptions = ClaudeOptions & Flags<"wrong" | "history">;

export async function evaluate(file: string | undefined, options: EvalOptions): Promise<void> {
  if (options.history === true) return await evaluateHistory(options);
  if (file === undefined) {
    throw new HoldfastError("usage", "file-missing", "No file given", {
      hint: "Give a file of labelled cases (docs/selection-cases.md), or --history.",
    });
  }
  const path = resolve(file);
  if (!(await fileExists(path))) {
    throw new HoldfastError("not-found", "file-not-found", `There is no file ${path}`, {
      hint: "Give a file of labelled cases; docs/selection-cases.md describes the format.",
      data: { path },
    });
  }
  const [{ readCases }, { evaluateCases }, { relevanceModels }] = await Promise.all([
    import("../../../claude/selection/cases.ts"),
    import("../../../claude/selection/evaluate.ts"),
    import("../../../claude/selection/relevance.ts"),
  ]);
  const cases = await readCases(path);
  const evaluation = await withClaude(options, async (side, { config }) => {
    const { sessionSelection } = side.config;
    const logger = createLogger({ level: config.log.level });
    const { providers, models } = config;
    const { command } = side.config;
    // One request per case: only for a model that the person chose.
    const isChosen = sessionSelection.relevanceModel !== undefined || sessionSelection.relevance === "model";
    const model = relevanceModels(sessionSelection, { providers, models, env: process.env, logger, command });
    return await evaluateCases(cases, { config: sessionSelection, model: isChosen ? model : undefined });
  });
  if (options.json === true) printJson({ schema: 1, file: path, ...evaluation });
  else printEvaluation(evaluation, options);
}

/** A task without a named session counts as accepted, which proves little, so it is no part of the accuracy. */
async function evaluateHistory(options: EvalOptions): Promise<void> {
  const { isAsSuggested } = await import("../../../claude/registry/registry-file.ts");
  const all = await withClaude(options, async (side) => await side.decisions({ agentId: options.agent }));
  const named = all.filter(({ suggested }) => suggested !== undefined);
  const wrong = named.filter((one) => !isAsSuggested(one));
  const right = named.length - wrong.length;
  const accuracy = named.length === 0 ? undefined : right / named.length;
  const accepted = all.length - named.length;
  if (options.json === true) {
    printJson({ schema: 1, decisions: all.length, accepted, named: named.length, right, accuracy, wrong });
    return;
  }
  print(`${plural(all.length, "decision")} on record, ${accepted} of them accepted as they were.`);
  if (named.length === 0) return;
  print(`You named the session yourself ${named.length} times; the selection agreed in ${right} of them.`);
  for (const { at, task, selection, suggested } of options.wrong === true ? wrong : []) {
    const choices = `you chose ${choiceText(selection)}, suggested was ${choiceText(suggested ?? selection)}`;
    print(
      `${at.slice(0, 10)}  ${printableLine(task, 80)}: ${choices} (${printableLine(suggested?.reason ?? "", 200)})`,
    );
  }
}

function printEvaluation(evaluation: Evaluation, options: EvalOptions): void {
  const methods = methodsOf(evaluation);
  print(`${evaluation.cases} cases; right decisions:`);
  printTable(
    ["METHOD", ...["RIGHT", "CASES", "ACCURACY", "OTHER SESSION", "MISSED RESUME", "WRONG RESUME"].map(right)],
    [
      baseline("chance", evaluation.chance, evaluation.cases),
      baseline("always fresh", evaluation.alwaysFresh, evaluation.cases),
      ...methods.map(([name, result]) => [
        name,
        String(result.right),
        String(result.cases),
        result.accuracy.toFixed(3),
        String(result.wrongSession),
        String(result.missedResume),
        String(result.wrongResume),
      ]),
    ],
  );
  printKinds(methods);
  if (options.wrong === true) printWrong(evaluation.model ?? evaluation.offline);
}

function methodsOf({ keywords, offline, model, rightRelevance }: Evaluation): [string, MethodResult][] {
  return [
    ["word overlap", keywords],
    ["offline", offline],
    ...(model === undefined ? [] : [["model", model] as [string, MethodResult]]),
    ...(rightRelevance === undefined ? [] : [["as labelled", rightRelevance] as [string, MethodResult]]),
  ];
}

function baseline(name: string, share: number, cases: number): string[] {
  return [name, (share * cases).toFixed(0), String(cases), share.toFixed(3), "", "", ""];
}

function printKinds(methods: readonly [string, MethodResult][]): void {
  const kinds = [...new Set(methods.flatMap(([, result]) => Object.keys(result.byKind)))].sort();
  if (kinds.length < 2) return;
  printStyled("");
  printTable(
    [flexible("KIND"), right("CASES"), ...methods.map(([name]) => right(name.toUpperCase()))],
    kinds.map((kind) => [
      kind,
      String(methods[0]?.[1].byKind[kind]?.cases ?? 0),
      ...methods.map(([, result]) => result.byKind[kind]?.accuracy.toFixed(2) ?? ""),
    ]),
  );
}

function printWrong({ decisions }: MethodResult): void {
  const wrong = decisions.filter(({ verdict }) => verdict !== "right");
  printStyled("");
  printStyled(style("bold", `Wrong (${wrong.length})`));
  for (const decision of wrong) {
    print(`${decision.id}  ${decision.kind}  ${decision.verdict}: ${decision.task}`);
    print(`  expected ${choiceText(decision.expected)}, decided ${choiceText(decision)}: ${decision.reason}`);
    for (const one of decision.relevance) {
      const figures = `relevance ${one.relevance.toFixed(2)}, score ${shownPoints(one.score)}`;
      print(`    ${shortId(one.sessionId)}  ${figures}: ${one.reasoning}`);
    }
  }
}

function choiceText({ action, sessionId }: ExpectedDecision): string {
  return sessionId === undefined ? action : `${action} ${shortId(sessionId)}`;
}
