/** What the picker shows of the marked session: enough to know whether it is the one. */
import { localTime } from "../../base/clock.ts";
import { printableLine } from "../../base/printable.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { formatAge, formatTokens } from "../output.ts";
import { wrapToWidth } from "../text-width.ts";
import { originCell, plural, runningText, sessionTitle, shortPath, spentCell } from "../commands/cc/session-view.ts";
import type { Paint } from "./paint.ts";

/** Lines that a text may take where there is room for it. */
const MAX_WRAPPED = 4;

export interface PreviewPlace {
  width: number;
  rows: number;
  /** Beside the list there is room for long texts, below it there is not. */
  beside: boolean;
}

export function previewLines(session: DiscoveredSession, place: PreviewPlace, now: number, paint: Paint): string[] {
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
  // The heading takes a line; of the prompts the last ones are shown.
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

/** What the person asked, oldest first, the last one even when it is not among those that are kept. */
function promptsOf({ prompts, firstMessage, lastPrompt }: DiscoveredSession): string[] {
  const asked = prompts.length > 0 ? prompts : [firstMessage];
  const all = lastPrompt === undefined || asked.at(-1) === lastPrompt ? asked : [...asked, lastPrompt];
  return all.filter((prompt) => prompt.trim() !== "");
}
