import { useEffect } from "react";
import { useController, usePageState } from "../page-context.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { EmptyChat } from "./empty-chat.tsx";
import { OldWindowBar } from "./old-window-bar.tsx";

export function Chat() {
  const controller = useController();
  const place = usePageState((state) => state.place);
  const isRunning = usePageState(({ live }) => place.key !== undefined && live[place.key]?.hasEnded === false);
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
      <ChatHeader sessionKey={key} />
      {windowId !== undefined && <OldWindowBar sessionKey={key} windowId={windowId} />}
      <Transcript key={`${key} ${windowId ?? ""}`} sessionKey={key} />
      {windowId === undefined && <Composer key={key} sessionKey={key} isRunning={isRunning} />}
    </main>
  );
}
