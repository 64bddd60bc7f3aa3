/** The menu of a session's windows. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useController, usePageState } from "../page-context.ts";
import { ChevronIcon, HistoryIcon } from "../parts/icons.tsx";
import { shortTime } from "../parts/time.ts";
import { When } from "../parts/when.tsx";
import type { SessionWindow } from "../state/state.ts";

export function WindowMenu({ sessionKey }: { sessionKey: string }) {
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
      <button
        ref={button}
        type="button"
        className="quiet"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={`Windows of this session: ${windows.length}`}
        onClick={() => {
          if (!isOpen) void controller.history.refreshWindows(sessionKey);
          setOpen(!isOpen);
        }}
      >
        <HistoryIcon />
        <span className="windows-count">{windows.length} windows</span>
        <ChevronIcon />
      </button>
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
                  <span className="row-line">
                    <span className="row-title" dir="auto">
                      {window.derivedTitle ?? window.sessionId.slice(0, 8)}
                    </span>
                    <span className="row-time">
                      <When at={window.openedAt} format={shortTime} />
                    </span>
                  </span>
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
