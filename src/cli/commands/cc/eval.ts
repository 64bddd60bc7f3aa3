/** `holdfast cc eval`: how often selection decides rightly on labelled cases (docs/selection-cases.md). */
import { resolve } from "node:path";
import { HoldfastError } from "../../../base/errors.ts";
import { fileExists } from "../../../base/files.ts";
import { createLogger } from "../../../base/log.ts";
import type { CaseDecision, Evaluation, MethodResult } from "../../../claude/selection/evaluate.ts";
import { print, printJson, printStyled, printTable, style } from "../../output.ts";
import { type ClaudeOptions, withClaude } from "./claude-side.ts";
import { shortId } from "./session-view.ts";

export interface EvalOptions extends ClaudeOptions {
  wrong?: boolean;
}

export async function evaluate(file: string, options: EvalOptions): Promise<void> {
  const path = resolve(file);
  await assertFile(path);
  const [{ readCases }, { evaluateCases }, { relevanceModel }] = await Promise.all([
    import("../../../claude/selection/cases.ts"),
    import("../../../claude/selection/evaluate.ts"),
    import("../../../claude/selection/relevance.ts"),
  ]);
  const cases = await readCases(path);
  const evaluation = await withClaude(options, async (side, { config }) => {
    const { sessionSelection } = side.config;
    const logger = createLogger({ level: config.log.level });
    const { providers, models } = config;
    const model = relevanceModel(sessionSelection, { providers, models, env: process.env, logger });
    return await evaluateCases(cases, { config: sessionSelection, ...(model === undefined ? {} : { model }) });
  });
  if (options.json === true) printJson({ schema: 1, file: path, ...evaluation });
  else printEvaluation(evaluation, options);
}

async function assertFile(path: string): Promise<void> {
  if (await fileExists(path)) return;
  throw new HoldfastError("not-found", "file-not-found", `There is no file ${path}`, {
    hint: "Name a file of labelled cases; docs/selection-cases.md describes them.",
    data: { path },
  });
}

function printEvaluation(evaluation: Evaluation, options: EvalOptions): void {
  const methods = methodsOf(evaluation);
  print(`${evaluation.cases} cases; right decisions:`);
  const right = { align: "right" } as const;
  printTable(
    [
      { title: "METHOD" },
      { title: "RIGHT", ...right },
      { title: "CASES", ...right },
      { title: "ACCURACY", ...right },
      { title: "OTHER SESSION", ...right },
      { title: "MISSED RESUME", ...right },
      { title: "WRONG RESUME", ...right },
    ],
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
    [
      { title: "KIND", flexible: true },
      { title: "CASES", align: "right" },
      ...methods.map(([name]) => ({ title: name.toUpperCase(), align: "right" as const })),
    ],
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
      const figures = `relevance ${one.relevance.toFixed(2)}, score ${one.score.toFixed(2)}`;
      print(`    ${shortId(one.sessionId)}  ${figures}: ${one.reasoning}`);
    }
  }
}

function choiceText({ action, sessionId }: Pick<CaseDecision, "action" | "sessionId">): string {
  return sessionId === undefined ? action : `${action} ${shortId(sessionId)}`;
}
