/** Which lines of a hand-off are told when there is room for some of them only. */
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
 * The newest of each kind before the second newest of any: a long list of one kind must not push out
 * another. Among equals what somebody needs to go on comes first.
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
const MOST_OF_A_KIND = 10;

function byImportance<L extends Line>(lines: readonly L[]): L[] {
  const ofKind = KINDS.map((kind) => {
    return lines
      .filter(({ item }) => item.kind === kind)
      .toReversed()
      .sort((a, b) => (a.item.timestamp < b.item.timestamp ? 1 : a.item.timestamp > b.item.timestamp ? -1 : 0))
      .slice(0, MOST_OF_A_KIND);
  });
  const ranked: L[] = [];
  for (let rank = 0; rank < MOST_OF_A_KIND; rank++) {
    for (const group of ofKind) {
      const line = group[rank];
      if (line !== undefined) ranked.push(line);
    }
  }
  return ranked;
}
