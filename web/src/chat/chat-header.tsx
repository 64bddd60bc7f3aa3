import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useController, usePageState } from "../page-context.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { RowHead } from "../parts/time.tsx";
import { sessionChannel, sessionTitle } from "../sessions/session-title.ts";
import type { SessionWindow } from "../state/state.ts";

interface Props {
  sessionKey: string;
  hasPanel: boolean;
  onPanel: () => void;
}

export function ChatHeader({ sessionKey, hasPanel, onPanel }: Props) {
  const controller = useController();
  const row = usePageState(({ sessions }) => sessions.rows?.find(({ key }) => key === sessionKey));
  const agents = usePageState((state) => state.agents);
  const unlisted = usePageState(({ view, windows }) => {
    if (view?.key !== sessionKey || view.sessionId === undefined) return undefined;
    return windows?.windows.find(({ isCurrent }) => isCurrent)?.derivedTitle ?? sessionKey;
  });
  const facts = [row && sessionChannel(row), row?.model, tokens(row?.totalTokens, row?.contextTokens)];
  return (
    <header className="chat-head">
      <Button icon="back" className="quiet back" label="Back to the sessions" onClick={() => controller.open({})} />
      <div className="chat-title">
        <h2 dir="auto" title={sessionKey}>
          {sessionTitle(sessionKey, row, agents, unlisted)}
        </h2>
        <p>{facts.filter((fact) => fact !== undefined).join(" · ")}</p>
      </div>
      <Button
        icon="handoff"
        className="quiet handoff-button"
        label="Hand-off"
        title="Notes for the next window"
        aria-expanded={hasPanel}
        onClick={onPanel}
      >
        <span className="handoff-button-text">Hand-off</span>
      </Button>
      <WindowMenu sessionKey={sessionKey} />
    </header>
  );
}

function tokens(used: number | undefined, limit: number | undefined): string | undefined {
  if (used === undefined || used === 0) return undefined;
  const share = limit === undefined || limit === 0 ? "" : ` (${Math.round((used / limit) * 100)} %)`;
  return `${used.toLocaleString()} tokens${share}`;
}

/** The menu of a session's windows. */
function WindowMenu({ sessionKey }: { sessionKey: string }) {
  const controller = useController();
  const windows = usePageState((state) => (state.windows?.key === sessionKey ? state.windows.windows : undefined));
  const shownId = usePageState(({ view }) => view?.sessionId);
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  useEffect(() => {
    if (!isOpen) return undefined;
    menu.current?.querySelector<HTMLElement>("[aria-current], button")?.focus();
    const onPointerDown = ({ target }: PointerEvent): void => {
      const isInside = target instanceof Node && menu.current?.parentElement?.contains(target) === true;
      if (!isInside) setOpen(false);
    };
    window.addEventListener("pointerdown", onPointerDown);
    return () => window.removeEventListener("pointerdown", onPointerDown);
  }, [isOpen]);

  if (windows === undefined || windows.length < 2) return null;
  const choose = ({ isCurrent, sessionId }: SessionWindow): void => {
    setOpen(false);
    controller.open({ key: sessionKey, windowId: isCurrent ? undefined : sessionId });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      event.preventDefault();
      setOpen(false);
      button.current?.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    moveFocus(menu.current, event.key === "ArrowDown" ? 1 : -1);
  };

  return (
    <div className="windows" onKeyDown={isOpen ? onKeyDown : undefined}>
      <Button
        ref={button}
        icon="history"
        label={`Windows of this session: ${windows.length}`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => {
          if (!isOpen) void controller.history.refreshWindows(sessionKey);
          setOpen(!isOpen);
        }}
      >
        <span className="windows-count">{windows.length} windows</span>
        <Icon name="chevron" />
      </Button>
      {isOpen && (
        <div className="menu" id={id} ref={menu}>
          <ul aria-label="Windows">
            {windows.map((window) => (
              <li key={window.sessionId}>
                <button
                  type="button"
                  className="menu-item"
                  aria-current={window.sessionId === shownId ? "true" : undefined}
                  onClick={() => choose(window)}
                >
                  <RowHead title={window.derivedTitle ?? window.sessionId.slice(0, 8)} at={window.openedAt} />
                  <span className="row-preview">
                    {window.isCurrent ? "Current" : "Closed"}, {REASONS[window.reason]}
                    {window.isArchived ? ", archived" : ""}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function moveFocus(menu: HTMLElement | null, step: number): void {
  const items = [...(menu?.querySelectorAll<HTMLElement>(".menu-item") ?? [])];
  const at = items.findIndex((item) => item === document.activeElement);
  items[(at + step + items.length) % items.length]?.focus();
}

const REASONS: Record<SessionWindow["reason"], string> = {
  initial: "first window",
  command: "started with /new",
  daily: "started on a new day",
  idle: "started after a pause",
  fork: "branched off",
  switch: "continued",
  restore: "restored",
};
