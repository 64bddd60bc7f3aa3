/**
 * Draws a frame of the picker that fits the terminal. On a wide terminal the preview is beside the list, else below
 * it; a small terminal has none. Session text is untrusted: it goes through `printableLine` before it is measured.
 */
import { basename } from "node:path";
import { localTime } from "../../base/clock.ts";
import { shortId } from "../../base/ids.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import {
  runningMark,
  sessionTitle,
  spentCell,
  originCell,
  runningText,
  shortPath,
} from "../commands/cc/claude-side.ts";
import {
  plural,
  formatAge,
  formatTokens,
  cutToWidth,
  fitToWidth,
  graphemes,
  textWidth,
  wrapToWidth,
} from "../output.ts";
import { type PickerState, queryWords, selectedItem } from "./picker-state.ts";
import { printableLine } from "../../base/text.ts";

export interface PickerView {
  state: PickerState;
  /** Name of the repo, or "all repos". */
  scope: string;
  /** Rows show their repo. */
  showRepo: boolean;
  /** Background work, such as reading transcripts. */
  notice?: string | undefined;
  now: number;
}

export interface Size {
  columns: number;
  rows: number;
}

export interface Frame {
  lines: string[];
  /** Position of the text cursor, counted from 0. */
  cursor: { row: number; column: number };
}

interface Layout {
  list: { width: number; rows: number };
  preview?: PreviewPlace | undefined;
}

const HEAD_ROWS = 1;
const FOOT_ROWS = 1;
const WIDE = 120;
const MIN_LIST_ROWS = 5;
const PREVIEW_ROWS = 9;

export function layoutOf({ columns, rows }: Size): Layout {
  const body = Math.max(1, rows - HEAD_ROWS - FOOT_ROWS);
  if (columns >= WIDE && body >= MIN_LIST_ROWS) {
    const width = Math.floor(columns * 0.6);
    return { list: { width, rows: body }, preview: { width: columns - width - 3, rows: body, beside: true } };
  }
  const previewRows = Math.min(PREVIEW_ROWS, body - MIN_LIST_ROWS - 1);
  if (previewRows < 3) return { list: { width: columns, rows: body } };
  return {
    list: { width: columns, rows: body - previewRows - 1 },
    preview: { width: columns, rows: previewRows, beside: false },
  };
}

export function drawPicker(view: PickerView, size: Size, paint: Paint): Frame {
  const { state } = view;
  const layout = layoutOf(size);
  const list = listLines(view, layout.list, paint);
  const query = cutFromLeft(printableLine(state.query), Math.max(1, size.columns - 30));
  const lines = [headLine(view, query, size.columns, paint), ...bodyLines(view, layout, list, paint)];
  lines.push(paint("dim", cutToWidth(footText(view), size.columns)));
  return { lines: lines.slice(0, size.rows), cursor: { row: 0, column: textWidth(PROMPT) + textWidth(query) } };
}

const PROMPT = "> ";

function headLine({ state, scope }: PickerView, query: string, width: number, paint: Paint): string {
  const count = state.query === "" ? String(state.items.length) : `${state.matches.length} of ${state.items.length}`;
  const left = `${PROMPT}${query}`;
  const room = width - textWidth(left) - 2;
  const right = cutToWidth(`${count} in ${printableLine(scope)}`, Math.max(0, room));
  const gap = " ".repeat(Math.max(0, width - textWidth(left) - textWidth(right)));
  return `${paint("bold", left)}${gap}${paint("dim", right)}`;
}

/** Cuts from the left, so that the last characters stay visible. */
function cutFromLeft(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const kept = [...graphemes(text)];
  while (kept.length > 0 && textWidth(kept.join("")) >= width) kept.shift();
  return `…${kept.join("")}`;
}

function bodyLines(
  view: PickerView,
  { list: { width, rows }, preview }: Layout,
  list: string[],
  paint: Paint,
): string[] {
  const filled = Array.from({ length: rows }, (_, index) => list[index] ?? " ".repeat(width));
  if (preview === undefined) return filled;
  const item = selectedItem(view.state);
  const shown = item === undefined ? [] : previewLines(item.session, view.state, preview, view.now, paint);
  const beside = Array.from({ length: preview.rows }, (_, index) => shown[index] ?? "");
  if (preview.beside) return filled.map((line, index) => `${line} ${paint("dim", "│")} ${beside[index] ?? ""}`);
  return [...filled, paint("dim", "─".repeat(width)), ...beside];
}

function listLines(
  { state, showRepo, now, notice }: PickerView,
  { width, rows }: Layout["list"],
  paint: Paint,
): string[] {
  if (state.matches.length === 0) {
    const nothing =
      notice === undefined ? 'No sessions yet. Start one with `claude` or `holdfast cc run "<task>"`.' : "";
    const text = state.items.length === 0 ? nothing : "No session matches; Ctrl-U clears the search.";
    return [" ".repeat(width), fitToWidth(`  ${text}`, width)].slice(0, rows);
  }
  return state.matches.slice(state.top, state.top + rows).map(({ session }, index) => {
    const line = sessionLine(session, { width, showRepo, now });
    return state.top + index === state.selected ? paint("inverse", line) : markWords(line, state.query, paint);
  });
}

function sessionLine(
  session: DiscoveredSession,
  { width, showRepo, now }: { width: number; showRepo: boolean; now: number },
): string {
  const place = showRepo ? basename(session.repoPath) : session.branch;
  const placeWidth = width >= 70 ? 18 : 12;
  const left = [
    fitToWidth(runningMark(session), 1),
    shortId(session.sessionId),
    fitToWidth(shortAge(now - session.lastModified.getTime()), 4, "right"),
    ...(width >= 50 ? [fitToWidth(printableLine(place), placeWidth)] : []),
  ].join(" ");
  const right = width >= 60 ? ` ${fitToWidth(spentCell(session), 8, "right")} ` : "";
  const room = Math.max(0, width - textWidth(left) - textWidth(right) - 2);
  return cutToWidth(`${left}  ${fitToWidth(printableLine(sessionTitle(session).slice(0, 1000)), room)}${right}`, width);
}

function shortAge(ms: number): string {
  const age = formatAge(ms);
  return age === "just now" ? "now" : age;
}

function footText({ notice }: PickerView): string {
  const keys = "Enter resume  ^F fork  ^Y id  Tab all/repo  ^U clear  Esc quit";
  return notice === undefined ? keys : `${notice}  ·  ${keys}`;
}

/** Maximum lines of a wrapped text. */
const MAX_WRAPPED = 4;

interface PreviewPlace {
  width: number;
  rows: number;
  /** Long texts are wrapped only beside the list. */
  beside: boolean;
}

function previewLines(
  session: DiscoveredSession,
  { query, found }: PickerState,
  place: PreviewPlace,
  now: number,
  paint: Paint,
): string[] {
  const { width, rows, beside } = place;
  const wrap = (text: string): string[] =>
    wrapToWidth(printableLine(text.slice(0, 2000)), width, beside ? MAX_WRAPPED : 1);
  const state = session.isRunning ? runningText(session) : usedText(session, now);
  const facts = [
    ...wrap(sessionTitle(session)).map((line) => paint("bold", line)),
    ...wrap(`${shortPath(session.repoPath)} on ${session.branch}`),
    ...wrap(state).map((line) => (session.isRunning ? paint("green", line) : line)),
    ...wrap(sizeText(session)),
  ];
  const passage = found?.query === query ? found.passages.get(session.sessionId) : undefined;
  if (passage !== undefined) facts.push(...wrap(`“${passage}”`).map((line) => markWords(line, query, paint)));
  // One line is the heading; the last prompts are shown.
  const room = Math.max(0, rows - facts.length - 1);
  const asked = promptsOf(session).map((prompt) => wrap(`· ${prompt}`));
  while (asked.flat().length > room) asked.shift();
  const prompts = asked.length === 0 ? [] : [paint("dim", "asked"), ...asked.flat()];
  return [...facts, ...prompts].slice(0, rows);
}

function usedText(session: DiscoveredSession, now: number): string {
  const at = session.lastModified.getTime();
  const age = formatAge(now - at);
  const when = `${age === "just now" ? age : `${age} ago`} (${localTime(at)})`;
  return session.archived === true ? `${runningText(session)}, last used ${when}` : `last used ${when}`;
}

function sizeText(session: DiscoveredSession): string {
  const { userTurns, contextTokens, compactionCount, models, label } = session;
  return [
    plural(userTurns, "turn"),
    spentCell(session),
    ...(contextTokens === 0 ? [] : [`context ${formatTokens(contextTokens)}`]),
    ...(compactionCount === 0 ? [] : [plural(compactionCount, "compaction")]),
    originCell(session),
    ...(models.length === 0 ? [] : [models.join(", ")]),
    ...(label === undefined ? [] : [`label ${label}`]),
  ].join(", ");
}

/** Prompts, oldest first, always with the last one. */
function promptsOf({ prompts, firstMessage, lastPrompt }: DiscoveredSession): string[] {
  const asked = prompts.length > 0 ? prompts : [firstMessage];
  const all = lastPrompt === undefined || asked.at(-1) === lastPrompt ? asked : [...asked, lastPrompt];
  return all.filter((prompt) => prompt.trim() !== "");
}

/** Colours a text; tests pass the text through. */
export type Paint = (format: "bold" | "dim" | "inverse" | "green" | "yellow", text: string) => string;

/** Paints the words of the query wherever they occur. */
function markWords(line: string, query: string, paint: Paint): string {
  const words = queryWords(query).map((word) => word.replace(/[^\p{L}\p{N}]/gu, String.raw`\$&`));
  return words.length === 0 ? line : line.replace(new RegExp(words.join("|"), "gi"), (word) => paint("yellow", word));
}
