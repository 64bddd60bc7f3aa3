/** Lines of earlier windows: open until this window finishes, calls off or decides them differently. */
import { matterOf, overlap } from "../matter.ts";
import { resolveBlockers } from "../patterns/resolve-blockers.ts";
import type { InheritedLine, Said, SummaryItem, SummaryKind } from "../state.ts";
import type { Conversation } from "./conversation.ts";
import { hasCue } from "./cues.ts";

const MOST_LINES = 3;
const SAME = 0.5;
const ENOUGH = 0.34;

export function standingInheritance(
  inherited: readonly InheritedLine[],
  conversation: Conversation,
  own: readonly SummaryItem[],
  project: string,
): SummaryItem[] {
  const standing = inherited.filter((line) => line.project === project && !isOver(line, conversation, own));
  const count = new Map<SummaryKind, number>();
  for (const { kind } of own) count.set(kind, (count.get(kind) ?? 0) + 1);
  return standing.flatMap(({ kind, text, entryId, timestamp }) => {
    const most = kind === "next-step" ? 1 : MOST_LINES;
    const listed = count.get(kind) ?? 0;
    if (listed >= most) return [];
    count.set(kind, listed + 1);
    return [{ kind, text, entryId, timestamp }];
  });
}

function isOver(line: InheritedLine, { turns }: Conversation, own: readonly SummaryItem[]): boolean {
  const matter = matterOf(line.text);
  const isSaidAgain = own.some(({ kind, text }) => kind === line.kind && overlap(matterOf(text), matter, 2) > SAME);
  if (isSaidAgain) return true;
  return turns.some((turn) =>
    turn.spoken.some(({ said, matter: other }) => {
      if (said.isQuestion === true) return false;
      const isAbout = overlap(matter, other, 2) >= ENOUGH;
      if (line.kind === "decision") return isAbout && turn.digest.role === "user" && hasCue(said.text, "reverses");
      const isCalledOff = isAbout && turn.digest.role === "user" && hasCue(said.text, "reverses");
      return isCalledOff || (isReport(said) && (isAbout || isResolvedBy(line.text, said.text)));
    }),
  );
}

function isReport({ text, scores }: Said): boolean {
  const [blocker = -1, , done = -1] = scores ?? [];
  return done > Math.max(0, blocker) || (hasCue(text, "past") && blocker <= 0 && !hasCue(text, "remains"));
}

function isResolvedBy(trouble: string, report: string): boolean {
  const note = { confidence: 1, timestamp: "", sourceEntryId: "" };
  const [blocker] = resolveBlockers([
    { ...note, type: "blocker", content: trouble },
    { ...note, type: "accomplishment", content: report, sourceEntryId: "report" },
  ]);
  return blocker?.resolved === true;
}
