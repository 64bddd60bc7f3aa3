/** Selects the lines of a hand-off that fit. */
import { FACT_KINDS, type SummaryItem, type SummaryKind } from "./state.ts";

export interface Line {
  item: SummaryItem;
  text: string;
}

export interface Room {
  tokens: number;
  characters: number;
  countTokens(text: string): number;
}

/**
 * The newest line of each kind comes before the second newest of any, so that a long list does not displace other
 * kinds. Kinds that matter most for the next step come first.
 */
export function chooseLines<L extends Line>(lines: readonly L[], room: Room): Set<L> {
  const chosen = new Set<L>();
  let { tokens, characters } = room;
  for (const line of byImportance(lines)) {
    const length = line.text.length + 1;
    const cost = room.countTokens(line.text) + 1;
    if (cost > tokens || length > characters) continue;
    tokens -= cost;
    characters -= length;
    chosen.add(line);
  }
  return chosen;
}

const KINDS: readonly SummaryKind[] = [
  "next-step",
  "blocker",
  "in-progress",
  "decision",
  "topic",
  "accomplishment",
  ...FACT_KINDS,
];
const MAX_OF_A_KIND = 10;

function byImportance<L extends Line>(lines: readonly L[]): L[] {
  const ofKind = KINDS.map((kind) =>
    lines
      .filter(({ item }) => item.kind === kind)
      .toReversed()
      .sort((a, b) => Number(a.item.timestamp < b.item.timestamp) - Number(a.item.timestamp > b.item.timestamp)),
  );
  return Array.from({ length: MAX_OF_A_KIND }, (_, rank) => ofKind.flatMap((group) => group[rank] ?? [])).flat();
}
