import { useMemo, Component, type ReactNode } from "react";
import { useController, usePageState } from "../page-context.ts";
import { Button } from "../parts/button.tsx";
import { dayName } from "../parts/time.tsx";
import type { PendingMessage } from "../state/state.ts";
import { buildItems, type Item } from "./build-items.ts";
import { ItemView } from "./item-view.tsx";
import { LiveTurnView, PendingView } from "./live-turn-view.tsx";
import { shownMessages, shownNotes, shownPending } from "./shown-messages.ts";
import { useRevealedEntry } from "./use-revealed-entry.ts";
import { useScrollKeeper } from "./use-scroll-keeper.ts";

export function Transcript({ sessionKey }: { sessionKey: string }) {
  const controller = useController();
  const view = usePageState((state) => (state.view?.key === sessionKey ? state.view : undefined));
  const isCurrent = usePageState(({ place }) => place.windowId === undefined);
  const live = usePageState((state) => (isCurrent ? state.live[sessionKey] : undefined));
  const allPending = usePageState((state) => state.pending);
  const allNotes = usePageState((state) => state.notes);

  const messages = useMemo(
    () => shownMessages(view?.messages ?? [], live),
    [view?.messages, live?.itemId, live?.isWhole],
  );
  const notes = useMemo(
    () =>
      shownNotes(
        allNotes.filter((note) => note.sessionId === view?.sessionId && note.key === sessionKey),
        messages,
      ),
    [allNotes, messages, view?.sessionId, sessionKey],
  );
  const pending = useMemo(
    () =>
      isCurrent
        ? shownPending(
            allPending.filter(({ key }) => key === sessionKey),
            messages,
            notes,
            live,
          )
        : [],
    [allPending, messages, notes, isCurrent, sessionKey, live?.itemId],
  );
  const items = useMemo(() => buildItems(messages, notes), [messages, notes]);
  const scroll = useScrollKeeper({
    /** Everything that affects the height. */
    content: [items, pending, live, view?.isLoadingOlder],
    newest: `${items.at(-1)?.id ?? ""} ${live?.itemId ?? ""}`,
    sent: allPending.flatMap(({ key, id }) => (key === sessionKey ? [id] : [])),
    onNearTop: () => void controller.history.loadOlder(),
  });
  const revealed = useRevealedEntry(view, items, scroll);
  // A queued message is shown below the running answer.
  const isAnswered = ({ itemId }: PendingMessage): boolean =>
    live === undefined || (itemId !== undefined && itemId <= live.itemId);
  const showPending = (message: PendingMessage) => <PendingView key={message.id} message={message} live={live} />;
  const isEmpty = view !== undefined && items.length === 0 && pending.length === 0 && live === undefined;

  return (
    <div className="transcript-frame">
      <div
        className="transcript"
        ref={scroll.container}
        onScroll={scroll.onScroll}
        onClickCapture={scroll.onClick}
        role="log"
        aria-label="Transcript"
        aria-live="polite"
        aria-busy={live !== undefined}
        tabIndex={0}
      >
        <div className="transcript-inner" ref={scroll.inner}>
          {view === undefined && <p className="transcript-note">Loading…</p>}
          {view?.problem !== undefined && <Problem text={view.problem} />}
          {view?.isLoadingOlder === true && <p className="transcript-note">Loading older messages…</p>}
          {isEmpty && view.problem === undefined && <p className="transcript-note">No messages in this window yet.</p>}
          {items.map((item, index) => (
            <div key={item.id} className={item.id === revealed ? "entry revealed" : "entry"} data-entry={item.id}>
              {startsDay(items, index) && <p className="day">{dayName(item.at)}</p>}
              <ErrorBoundary instead="This entry cannot be shown.">
                <ItemView item={item} />
              </ErrorBoundary>
            </div>
          ))}
          {pending.filter(isAnswered).map(showPending)}
          {live !== undefined && <LiveTurnView turn={live} />}
          {pending.filter((message) => !isAnswered(message)).map(showPending)}
        </div>
      </div>
      {!scroll.isAtEnd && (
        <Button icon="down" className="to-end" data-new={scroll.hasNew} onClick={scroll.toEnd}>
          {scroll.hasNew ? "New messages" : "Latest"}
        </Button>
      )}
    </div>
  );
}

function Problem({ text }: { text: string }) {
  const controller = useController();
  return (
    <div className="error-box" role="alert">
      <p>{text}</p>
      <Button onClick={() => void controller.history.refresh()}>Try again</Button>
    </div>
  );
}

/** Notes have no time. */
function startsDay(items: readonly Item[], index: number): boolean {
  const at = items[index]?.at ?? Number.NaN;
  if (!Number.isFinite(at)) return false;
  let before = index - 1;
  while (before >= 0 && !Number.isFinite(items[before]?.at)) before--;
  return before < 0 || dayName(items[before]?.at ?? 0) !== dayName(at);
}

interface Props {
  children: ReactNode;
  /** Shown after an error. */
  instead: string;
}

/** Keeps one broken entry from breaking the page. */
class ErrorBoundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <p className="mark">{this.props.instead}</p> : this.props.children;
  }
}
