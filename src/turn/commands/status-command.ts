/** Where one is: the session, its window, what answers and with which settings. */
import { localTime } from "../../base/clock.ts";
import { resolveContextWindow } from "../../models/context-window.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import { readWindowCost } from "../../session/window-cost.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { ChatCommand, CommandRequest } from "./chat-command.ts";
import { thinkingOf, verboseOf } from "./level-commands.ts";
import { currentModel, modelLine } from "./model-command.ts";
import { queueLine, queueOf } from "./queue-command.ts";
import { activationOf, isGroup, sendingOf } from "./reply-commands.ts";
import { currentEntry } from "./session-settings.ts";
import { type Row, counted, layOut, shortCount, shown } from "./shown.ts";

export const statusCommand: ChatCommand = {
  name: "status",
  usage: "/status",
  summary: "where you are and what answers",
  when: "now",
  needsAuthorization: true,
  run: async (request) => {
    const entry = await currentEntry(request);
    const rows = [...(await sessionRows(request, entry)), ...settingRows(request, entry), ...laneRows(request, entry)];
    return { text: layOut(request.ctx, rows) };
  },
};

async function sessionRows(request: CommandRequest, entry: SessionEntry | undefined): Promise<Row[]> {
  const { parts, sessionKey } = request;
  const label = entry?.label === undefined ? "" : `  "${shown(entry.label)}"`;
  const engine: Row[] = [
    ["engine", parts.engine.name],
    ["model", modelLine(request, entry)],
  ];
  const session: Row = ["session", `${shown(sessionKey, 200)}${label}`];
  if (entry === undefined) return [session, ["window", "none: nothing was said here yet"], ...engine];
  return [session, ["window", await windowLine(request, entry)], ...engine, ...(await fillRows(request, entry))];
}

async function windowLine({ parts, sessionKey }: CommandRequest, entry: SessionEntry): Promise<string> {
  const windows = await parts.agent.store.windows(sessionKey);
  const openedAt = windows.at(-1)?.openedAt;
  const since = openedAt === undefined ? "" : `, since ${localTime(openedAt)}`;
  return `number ${Math.max(1, windows.length)} (${shown(entry.sessionId)})${since}`;
}

async function fillRows(request: CommandRequest, entry: SessionEntry): Promise<Row[]> {
  const cost = await readWindowCost(transcriptPath(request.parts.agent, entry));
  const compactions = counted(entry.compactionCount ?? 0, "compaction");
  return [
    ["context", `${contextFill(request, entry)}, ${compactions}`],
    ...(cost === undefined || cost.usd === 0
      ? []
      : [["cost", `${cost.complete ? "" : "more than "}${dollars(cost.usd)} in this window`] satisfies Row]),
  ];
}

/** `12k of 200k (6%)`. */
function contextFill(request: CommandRequest, entry: SessionEntry): string {
  const used = entry.totalTokens ?? 0;
  const known = resolveContextWindow(currentModel(request, entry), request.parts.config.models);
  const reported = entry.contextTokens ?? 0;
  const size = known.source === "assumed" && reported > 0 ? reported : known.tokens;
  const assumed = known.source === "assumed" && reported === 0 ? "an assumed " : "";
  return `${shortCount(used)} of ${assumed}${shortCount(size)} (${Math.round((used / size) * 100)}%)`;
}

function dollars(usd: number): string {
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

function settingRows(request: CommandRequest, entry: SessionEntry | undefined): Row[] {
  return [
    ["thinking", thinkingOf(entry)],
    ["verbose", verboseOf(entry)],
    ["send", sendingOf(request, entry)],
    ...(isGroup(request, entry) ? [["activation", activationOf(request, entry)] satisfies Row] : []),
  ];
}

function laneRows(request: CommandRequest, entry: SessionEntry | undefined): Row[] {
  const { queued, runningSince } = request.lane.state();
  const idle = entry?.abortedLastRun === true ? "nothing; the last answer was stopped" : "nothing";
  return [
    ["queue", queueLine(queueOf(request, entry), queued)],
    ["running", runningSince === undefined ? idle : `since ${localTime(runningSince)}`],
  ];
}
