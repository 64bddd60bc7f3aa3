import { useEffect, useState } from "react";
import { useController, usePageState } from "../page-context.ts";
import { Logo, Icon } from "../parts/icons.tsx";
import { fullTime } from "../parts/time.tsx";
import { tabStorage } from "../storage.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { HandoffPanel } from "./handoff-panel.tsx";
import { TaskBar } from "./task-bar.tsx";

export function Chat() {
  const controller = useController();
  const place = usePageState((state) => state.place);
  const isRunning = usePageState(({ live }) => place.key !== undefined && live[place.key]?.hasEnded === false);
  const [hasPanel, setPanel] = usePanel();
  const { key, windowId } = place;

  useEffect(() => {
    if (key === undefined || !isRunning) return undefined;
    const onKeyDown = (event: KeyboardEvent): void => {
      // A menu or field that handles Escape comes first.
      if (event.key === "Escape" && !event.defaultPrevented) controller.chat.stop(key);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [controller, key, isRunning]);

  if (key === undefined) {
    return (
      <main className="chat">
        <EmptyChat />
      </main>
    );
  }
  return (
    <main className="chat">
      <ChatHeader sessionKey={key} hasPanel={hasPanel} onPanel={() => setPanel(!hasPanel)} />
      {windowId !== undefined && <OldWindowBar sessionKey={key} windowId={windowId} />}
      <div className="chat-body">
        <div className="chat-column">
          <Transcript key={`${key} ${windowId ?? ""}`} sessionKey={key} />
          {windowId === undefined && <TaskBar sessionKey={key} />}
          {windowId === undefined && <Composer key={key} sessionKey={key} isRunning={isRunning} />}
        </div>
        {hasPanel && (
          <HandoffPanel
            sessionKey={key}
            onClose={() => setPanel(false)}
            onFollow={() => {
              if (COVERING.matches) setPanel(false);
            }}
          />
        )}
      </div>
    </main>
  );
}

/** Where the panel covers the conversation; as in the style sheet. */
const COVERING = window.matchMedia("(max-width: 1080px)");

/** Shared by all sessions of this tab. A panel that covers the conversation starts closed. */
function usePanel(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(() => tabStorage.read("handoff") === "open" && !COVERING.matches);
  const change = (next: boolean): void => {
    setOpen(next);
    tabStorage.write("handoff", next ? "open" : undefined);
  };
  return [isOpen, change];
}

function EmptyChat() {
  return (
    <div className="empty">
      <Logo />
      <p>Choose a conversation, or start a new one.</p>
    </div>
  );
}

/** Earlier windows are read-only. */
function OldWindowBar({ sessionKey, windowId }: { sessionKey: string; windowId: string }) {
  const controller = useController();
  const shown = usePageState(({ windows }) => windows?.windows.find(({ sessionId }) => sessionId === windowId));
  return (
    <div className="old-window" role="status">
      <Icon name="history" />
      <p>
        <strong>Old window.</strong> {shown === undefined ? "" : `${span(shown.openedAt, shown.closedAt)}. `}
        <span className="wide-only">It is read-only.</span>
      </p>
      <button type="button" onClick={() => controller.open({ key: sessionKey })}>
        Back to the current window
      </button>
    </div>
  );
}

function span(openedAt: number, closedAt: number | undefined): string {
  return closedAt === undefined ? `Started ${fullTime(openedAt)}` : `Closed ${fullTime(closedAt)}`;
}
