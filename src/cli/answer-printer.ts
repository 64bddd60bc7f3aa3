/**
 * Shows answers. On a terminal an answer appears as it is written, with the tools in use; elsewhere it is printed
 * whole. The final text may differ from the streamed one because directives are removed from it; then the final
 * text is printed too.
 */
import { ERROR_KINDS, type ErrorReport, HoldfastError } from "../base/errors.ts";
import { shortId } from "../base/ids.ts";
import { print, style, talk, talkStyled } from "./output.ts";
import { printable, printableLine } from "../base/text.ts";
import type { RpcEvent } from "../rpc/protocol.ts";
import { failureText } from "../turn/turn-errors.ts";
import type { TurnEnd } from "../turn/pipeline.ts";

export type AnswerPrinter = ReturnType<typeof createAnswerPrinter>;

type Ended = Pick<TurnEnd, "sessionId" | "media" | "withheld"> & { outcome: string; text?: string | undefined };

/** `sessionId` is the window that is open before the first message. */
export function createAnswerPrinter(interactive: boolean, sessionId: string | undefined) {
  let shown = "";
  let window = sessionId;

  const finishLine = (): void => {
    if (shown !== "" && !shown.endsWith("\n")) process.stdout.write("\n");
  };

  return {
    onEvent: (event: RpcEvent): void => {
      if (event.type === "turn.notice") talk(event.text);
      if (!interactive) {
        if (event.type === "turn.tool" && event.line !== undefined) talk(event.line);
        return;
      }
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
    end: (ended: Ended): void => {
      const { text, media = [], sessionId: current } = ended;
      finishLine();
      const isShown = text !== undefined && withoutBlanks(shown).includes(withoutBlanks(text));
      if (text !== undefined && !isShown) print(text);
      for (const ref of media) if (!shown.includes(ref)) print(mediaLine(ref));
      const silence = silenceText(ended);
      if (silence !== undefined) talkStyled(style("dim", silence));
      if (current !== undefined) {
        // Commands that switch windows name the new window themselves.
        const isNamed = text?.includes(shortId(current)) === true;
        if (window !== undefined && current !== window && !isNamed) announceWindow(current, window);
        window = current;
      }
      shown = "";
    },
  };
}

function toolLine(event: Extract<RpcEvent, { type: "turn.tool" }>): string | undefined {
  const name = printableLine(event.name, 60);
  if (event.phase === "start") return style("dim", event.line ?? `· ${name}`);
  return event.isError === true ? style("dim", `· ${name} failed`) : undefined;
}

/** Parts of an answer may be joined with or without an empty line. */
function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

function announceWindow(current: string, previous: string): void {
  const before = shortId(previous);
  talk(`New window ${shortId(current)}. The previous one is kept: /windows lists all, /back ${before} returns to it.`);
}

export function mediaLine(ref: string): string {
  return `MEDIA:${ref}`;
}

/** Explains a turn that shows nothing; undefined for any other. */
export function silenceText({ outcome, text, media, withheld }: Ended): string | undefined {
  if (withheld === "send-policy") {
    return "The answer was not delivered: the session's send policy is deny. `holdfast history` shows it, `/send on` allows answers again.";
  }
  if (outcome === "silent") return "The agent chose not to answer.";
  return outcome === "answered" && (text ?? "") === "" && media === undefined ? "The answer has no text." : undefined;
}

/** Undefined for a turn that ended as it should. */
export function turnFailure(end: Pick<TurnEnd, "outcome" | "error">): HoldfastError | undefined {
  switch (end.outcome) {
    case "failed":
      return end.error === undefined
        ? new HoldfastError("internal", "turn-failed", "The turn failed", { hint: "See `holdfast gateway logs`." })
        : errorFromReport(end.error);
    case "aborted":
      return new HoldfastError("interrupted", "turn-aborted", "The turn was stopped");
    case "dropped":
      return new HoldfastError("unavailable", "message-dropped", "The message was not answered: too many are waiting", {
        hint: "Try again when fewer messages are waiting.",
      });
    default:
      return undefined;
  }
}

/** The error that a gateway reported, as if it had been thrown here. */
export function errorFromReport({ code, kind, message, hint, data }: ErrorReport): HoldfastError {
  const known = Object.hasOwn(ERROR_KINDS, kind) ? kind : "internal";
  return new HoldfastError(known, code, message, { hint, data });
}

/** The text of a failed turn ends with the failure, which is printed on stderr instead. */
export function withoutFailureText(text: string | undefined, failure: HoldfastError | undefined): string | undefined {
  if (failure === undefined || text === undefined) return text;
  const ending = failureText(failure);
  if (!text.endsWith(ending)) return text;
  const rest = text.slice(0, -ending.length).trimEnd();
  return rest === "" ? undefined : rest;
}
