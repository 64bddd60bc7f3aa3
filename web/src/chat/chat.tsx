import { useEffect, useState } from "react";
import { HandoffPanel } from "../handoff/handoff-panel.tsx";
import { useController, usePageState } from "../page-context.ts";
import { tabStorage } from "../storage.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { EmptyChat } from "./empty-chat.tsx";
import { OldWindowBar } from "./old-window-bar.tsx";

export function Chat() {
  const controller = useController();
  const place = usePageState((state) => state.place);
  const isRunning = usePageState(({ live }) => place.key !== undefined && live[place.key]?.hasEnded === false);
  const [hasPanel, setPanel] = usePanel();
  const { key, windowId } = place;

  useEffect(() => {
    if (key === undefined || !isRunning) return undefined;
    const onKeyDown = (event: KeyboardEvent): void => {
      // A menu or field that closes with the same key comes first.
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

/** Where the panel lies over the conversation, as the style sheet has it. */
const COVERING = window.matchMedia("(max-width: 1080px)");

/** Open or closed for all sessions of this tab alike; what covers the conversation is closed at first. */
function usePanel(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(() => tabStorage.read("handoff") === "open" && !COVERING.matches);
  const change = (next: boolean): void => {
    setOpen(next);
    tabStorage.write("handoff", next ? "open" : undefined);
  };
  return [isOpen, change];
}
