/** Everything that can change the state. */
import type { RpcEvent } from "../../../src/rpc/events.ts";
import type { Place } from "../address.ts";
import type {
  HandoffState,
  HistoryPage,
  Note,
  PageState,
  PendingMessage,
  SessionQuery,
  SessionRow,
  SessionWindow,
} from "./state.ts";

export type Action =
  | { type: "link.changed"; link: PageState["link"] }
  | { type: "kept.restored"; pending: PendingMessage[]; notes: Note[]; seen: Record<string, number>; seenSince: number }
  | { type: "agents.read"; agents: NonNullable<PageState["agents"]> }
  | { type: "place.changed"; place: Place }
  | { type: "sessions.asked"; query: SessionQuery }
  /** `offset` 0 replaces the beginning of the list; further pages are put behind it. */
  | { type: "sessions.read"; query: SessionQuery; rows: SessionRow[]; total: number; offset: number }
  | { type: "sessions.failed"; problem: string | undefined }
  | { type: "windows.read"; key: string; windows: SessionWindow[] }
  /** With what was known when the history was asked for: the turns that had ended, and the one that ran. */
  | { type: "history.read"; place: Place; page: HistoryPage; settled: readonly string[]; running: number | undefined }
  | { type: "history.older-asked" }
  | { type: "history.older-read"; place: Place; page: HistoryPage }
  | { type: "history.failed"; place: Place; problem: string | undefined }
  /** Said of another session than the one that is shown, it changes nothing. */
  | ({ type: "handoff.changed" } & HandoffState)
  | { type: "message.written"; message: PendingMessage }
  | { type: "message.accepted"; id: string; itemId: number; hasEnded: boolean }
  | { type: "message.refused"; id: string; problem: string }
  | { type: "message.retried"; id: string }
  | { type: "message.discarded"; id: string }
  | { type: "turn.stopping"; key: string }
  /** Events were missed: what was told of turns before counts no more. */
  | { type: "running.read"; running: readonly { sessionKey: string; itemId: number }[] }
  | { type: "event"; event: RpcEvent };
