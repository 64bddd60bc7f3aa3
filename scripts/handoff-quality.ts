/** How right hand-offs are on labelled conversations: precision and recall by section, forbidden and repeated lines. */
import { type Section, SECTIONS } from "../src/handoff/patterns/note.ts";
import type { SummaryItem } from "../src/handoff/state.ts";
import { type Conversation, isMatch, LABELS } from "./handoff-conversations.ts";

export interface SectionTally {
  right: number;
  wrong: number;
  found: number;
  missed: number;
}

export interface Quality {
  sections: Record<Section, SectionTally>;
  forbidden: string[];
  repeated: string[];
}

export function emptyQuality(): Quality {
  const sections = Object.fromEntries(
    SECTIONS.map((section) => [section, { right: 0, wrong: 0, found: 0, missed: 0 }]),
  ) as Record<Section, SectionTally>;
  return { sections, forbidden: [], repeated: [] };
}

/** Adds one conversation. Returns a report of its lines. */
export function addQuality(
  quality: Quality,
  { id, expected, forbidden }: Conversation,
  items: readonly SummaryItem[],
): string[] {
  const report = [`== ${id}`];
  for (const section of SECTIONS) {
    const labelled = expected[LABELS[section]];
    if (labelled === undefined) continue;
    const tally = quality.sections[section];
    const texts = items.filter(({ kind }) => kind === section).map(({ text }) => text);
    for (const text of texts) {
      const isRight = labelled.some((line) => isMatch(text, line));
      tally[isRight ? "right" : "wrong"] += 1;
      report.push(`  ${section.padEnd(14)} ${isRight ? "ok " : "BAD"} ${text}`);
    }
    for (const line of labelled.filter(({ optional }) => optional !== true)) {
      const isFound = texts.some((text) => isMatch(text, line));
      tally[isFound ? "found" : "missed"] += 1;
      if (!isFound) report.push(`  ${section.padEnd(14)} MISSED ${line.text}`);
    }
  }
  const said = new Set<string>();
  for (const { kind, text } of items) {
    const lower = text.toLowerCase();
    if (forbidden.some((part) => lower.includes(part.toLowerCase()))) quality.forbidden.push(`${id} ${kind}: ${text}`);
    for (const sentence of sentencesOf(lower)) {
      if (said.has(sentence)) quality.repeated.push(`${id}: ${sentence}`);
      said.add(sentence);
    }
  }
  return report;
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\s—\s/).filter((sentence) => sentence.length > 12);
}

export function precisionOf({ right, wrong }: SectionTally): number {
  return right / Math.max(1, right + wrong);
}

export function recallOf({ found, missed }: SectionTally): number {
  return found / Math.max(1, found + missed);
}

export function describe({ sections, forbidden, repeated }: Quality): string[] {
  return [
    ...SECTIONS.map((section) => {
      const tally = sections[section];
      const figures = `precision ${precisionOf(tally).toFixed(2)} recall ${recallOf(tally).toFixed(2)}`;
      return `${section.padEnd(15)} ${figures} (${tally.right + tally.wrong} lines, ${tally.found + tally.missed} expected)`;
    }),
    `forbidden ${forbidden.length}, repeated ${repeated.length}`,
  ];
}
