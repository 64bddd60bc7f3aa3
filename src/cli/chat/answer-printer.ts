/**
 * How an answer is shown: on a terminal as it comes, with the tools that are used; elsewhere whole, when it
 * is there. What was shown early may differ from what counts in the end (directives are taken out of it);
 * then the end is shown too.
 */
import { printable, printableLine } from "../../base/printable.ts";
import type { RpcEvent } from "../../rpc/events.ts";
import type { TurnEnd } from "../../turn/turn-events.ts";
import { print, style, talk, talkStyled } from "../output.ts";
import { silenceText } from "../rpc/turn-end.ts";

export interface AnswerPrinter {
  readonly hear: (event: RpcEvent) => void;
  readonly end: (end: Pick<TurnEnd, "sessionId" | "outcome"> & { text?: string | undefined }) => void;
}

export function createAnswerPrinter({
  interactive,
  sessionId,
}: {
  interactive: boolean;
  sessionId: string | undefined;
}): AnswerPrinter {
  let shown = "";
  let window = sessionId;

  const finishLine = (): void => {
    if (shown !== "" && !shown.endsWith("\n")) process.stdout.write("\n");
  };

  return {
    hear: (event) => {
      if (event.type === "turn.notice") talk(event.text);
      if (!interactive) return;
      if (event.type === "turn.text") {
        const text = shown === "" ? event.text.trimStart() : event.text;
        process.stdout.write(printable(text));
        shown += text;
      } else if (event.type === "turn.tool") {
        const line = toolLine(event);
        if (line === undefined) return;
        finishLine();
        if (shown !== "") shown += "\n";
        talkStyled(line);
      } else if (event.type === "turn.compaction" && event.phase === "start") {
        talkStyled(style("dim", "· shortening the conversation"));
      }
    },
    end: ({ text, sessionId: current, outcome }) => {
      finishLine();
      const isShown = text !== undefined && squeeze(shown).includes(squeeze(text));
      if (text !== undefined && !isShown) print(text);
      const silence = silenceText({ outcome, text });
      if (silence !== undefined) talkStyled(style("dim", silence));
      if (current !== undefined) {
        // A command that went to another window has said so itself.
        const isTold = text?.includes(shortId(current)) === true;
        if (window !== undefined && current !== window && !isTold) announceWindow(current, window);
        window = current;
      }
      shown = "";
    },
  };
}

function toolLine(event: Extract<RpcEvent, { type: "turn.tool" }>): string | undefined {
  const name = printableLine(event.name, 60);
  if (event.phase === "start") return style("dim", `· ${name}`);
  return event.isError === true ? style("dim", `· ${name} failed`) : undefined;
}

/** Pieces of an answer meet with or without an empty line between them. */
function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

function announceWindow(current: string, previous: string): void {
  const before = shortId(previous);
  talk(`Window ${shortId(current)}; the previous one (${before}) stays: /windows, /back ${before}`);
}

function shortId(sessionId: string): string {
  return sessionId.slice(0, 8);
}
