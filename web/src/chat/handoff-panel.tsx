/** Shows the hand-off to the next window; each line links to its message. */
import { type MouseEvent, useEffect } from "react";
import { withoutRepeats } from "../../../src/handoff/items.ts";
import { type Place, formatPlace } from "../address.ts";
import { useController, usePageState } from "../page-context.ts";
import { Button } from "../parts/button.tsx";
import { fullTime, When } from "../parts/time.tsx";
import type { Handoff, HandoffDeed } from "../state/state.ts";

interface Props {
  sessionKey: string;
  onClose: () => void;
  /** Called when a link is followed, so that the panel can stop covering its target. */
  onFollow: () => void;
}

export function HandoffPanel({ sessionKey, onClose, onFollow }: Props) {
  const controller = useController();
  const state = usePageState(({ handoff }) => (handoff?.key === sessionKey ? handoff : undefined));
  useEffect(() => {
    controller.handoff.watch(sessionKey);
    return () => controller.handoff.unwatch();
  }, [controller, sessionKey]);

  const { answer, doing, result, problem } = state ?? {};
  const handoff = answer?.handoff;
  const perform = (deed: HandoffDeed, name?: string): void => void controller.handoff.perform(sessionKey, deed, name);

  return (
    <aside className="handoff" aria-label="Hand-off" aria-busy={doing !== undefined}>
      <header className="handoff-head">
        <h3>Hand-off</h3>
        <Button icon="close" label="Close the hand-off" onClick={onClose} />
      </header>
      <div className="handoff-body">
        {answer === undefined && problem === undefined && <p className="handoff-note">Loading…</p>}
        {answer?.enabled === false && (
          <p className="handoff-note">
            Hand-offs are turned off: <code>handoff.enabled</code> is false in the configuration.
          </p>
        )}
        {answer?.enabled === true && handoff === undefined && <Empty isOff={answer.isOff} />}
        {handoff !== undefined && <Status handoff={handoff} isOff={answer?.isOff === true} />}
        {handoff !== undefined && <Sections handoff={handoff} sessionKey={sessionKey} onFollow={onFollow} />}
      </div>
      {answer?.enabled === true && (
        <footer className="handoff-foot">
          <div role="status" className={problem === undefined ? "handoff-told" : "handoff-told problem"}>
            {problem ?? result}
          </div>
          <div className="handoff-deeds">
            <button type="button" disabled={doing !== undefined || answer.isOff} onClick={() => perform("capture")}>
              Capture now
            </button>
            <button
              type="button"
              disabled={doing !== undefined || handoff === undefined || handoff.isAsked || answer.isOff}
              title="Include it in the next message, even if the agent has seen it"
              onClick={() => perform("resume", handoff?.status === "expired" ? handoff.project : undefined)}
            >
              Resume
            </button>
            <button
              type="button"
              disabled={doing !== undefined || handoff === undefined}
              title="Delete this hand-off for good"
              onClick={() => perform("clear")}
            >
              Clear
            </button>
          </div>
        </footer>
      )}
    </aside>
  );
}

function Empty({ isOff }: { isOff: boolean }) {
  return (
    <p className="handoff-note">
      {isOff
        ? "Hand-offs are turned off for this session. /handoff on turns them on."
        : "No hand-off yet. It is captured as you talk and when the window ends."}
    </p>
  );
}

function Status({ handoff, isOff }: { handoff: Handoff; isOff: boolean }) {
  const { project, branch, capturedAt } = handoff;
  return (
    <div className="handoff-fate">
      <p className="handoff-project" dir="auto">
        {project}
        {branch !== undefined && <span className="handoff-branch">{branch}</span>}
      </p>
      <p>{statusText(handoff, isOff)}</p>
      <p className="handoff-when">
        Captured <When at={capturedAt} format={fullTime} />
      </p>
    </div>
  );
}

const SECTIONS = [
  ["in-progress", "In progress"],
  ["blocker", "Blockers"],
  ["decision", "Decisions"],
  ["accomplishment", "Done"],
  ["next-step", "Next step"],
  ["topic", "Last topic"],
  ["failure", "Failing"],
  ["todo", "To-dos"],
  ["commit", "Commits"],
  ["edited", "Files"],
  ["pull-request", "Pull request"],
] as const;

function Sections({ handoff, sessionKey, onFollow }: { handoff: Handoff } & Pick<Props, "sessionKey" | "onFollow">) {
  const windowId = usePageState(({ windows, view }) => {
    const known = windows?.windows.find(({ isCurrent }) => isCurrent)?.sessionId;
    const current = known ?? (view?.isCurrent === true ? view.sessionId : undefined);
    return current === handoff.sessionId ? undefined : handoff.sessionId;
  });
  const shown = withoutRepeats(handoff.items);
  return SECTIONS.map(([kind, title]) => {
    const items = shown.filter((item) => item.kind === kind);
    if (items.length === 0) return null;
    return (
      <section key={kind}>
        <h4>{title}</h4>
        <ul>
          {items.map(({ text, entryId, sessionId, remark, resolvedBy, said }) => (
            <li key={`${entryId} ${text}`} title={said === undefined ? undefined : `Original: ${said}`}>
              {resolvedBy === undefined ? (
                <span dir="auto">{text}</span>
              ) : (
                <s dir="auto" title="Resolved by a later message">
                  {text}
                </s>
              )}{" "}
              <Reference place={{ key: sessionKey, windowId: sessionId ?? windowId, entryId }} onFollow={onFollow} />
              {resolvedBy !== undefined && (
                <>
                  {" resolved "}
                  <Reference place={{ key: sessionKey, windowId, entryId: resolvedBy }} onFollow={onFollow} />
                </>
              )}
              {remark !== undefined && <span className="handoff-remark">{remark}</span>}
            </li>
          ))}
        </ul>
      </section>
    );
  });
}

function Reference({ place, onFollow }: { place: Place; onFollow: () => void }) {
  const controller = useController();
  const follow = (event: MouseEvent): void => {
    // The browser opens new tabs itself.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    controller.open(place);
    onFollow();
  };
  return (
    <a className="handoff-reference" href={formatPlace(place)} onClick={follow} title="Show the message">
      {place.entryId?.slice(0, 8)}
    </a>
  );
}

/** What happens to the hand-off next. */
function statusText({ status, isAsked, expiresAt, offeredAt }: Handoff, isOff: boolean): string {
  if (isOff) return "It will not be offered: hand-offs are off for this session.";
  if (isAsked) return "Your next message will include it.";
  switch (status) {
    case "waiting":
      return `It will be offered to the next window, until ${fullTime(expiresAt)}.`;
    case "offered":
      return `Given to the agent${offeredAt === undefined ? "" : ` on ${fullTime(offeredAt)}`}.`;
    case "expired":
      return `It expired on ${fullTime(expiresAt)}. Resume still works.`;
    case "cleared":
      return "It was cleared.";
    default:
      return status satisfies never;
  }
}
