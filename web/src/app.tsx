import { useEffect, useState } from "react";
import { Chat } from "./chat/chat.tsx";
import { useController, usePageState } from "./page-context.ts";
import { Button } from "./parts/button.tsx";
import { SessionList } from "./sessions/session-list.tsx";
import { SignIn } from "./sign-in.tsx";
import { isUnread } from "./state/changes.ts";

export function App() {
  const isSignedOut = usePageState(({ link }) => link.state === "signed-out");
  const hasChat = usePageState(({ place }) => place.key !== undefined);
  const unread = usePageState((state) => state.sessions.rows?.filter((row) => isUnread(state, row)).length ?? 0);
  useEffect(() => {
    document.title = unread === 0 || isSignedOut ? "Holdfast" : `(${unread}) Holdfast`;
  }, [unread, isSignedOut]);
  if (isSignedOut) return <SignIn />;
  // A narrow screen shows one of the two.
  return (
    <div className="shell" data-pane={hasChat ? "chat" : "list"}>
      <LinkBar />
      <SessionList />
      <Chat />
    </div>
  );
}

/** Short interruptions are not shown. */
const GRACE_MS = 300;

/** Shown while the gateway cannot be reached. */
function LinkBar() {
  const controller = useController();
  const link = usePageState((state) => state.link);
  const isDown = link.state === "waiting" || link.state === "connecting";
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(isDown), isDown ? GRACE_MS : 0);
    return () => clearTimeout(timer);
  }, [isDown]);
  if (!isShown || !isDown) return null;
  return (
    <div className="link-bar" role="status">
      <span className="spinner" aria-hidden="true" />
      <span>{link.state === "waiting" ? "Cannot reach the gateway. Reconnecting" : "Connecting"}…</span>
      {link.state === "waiting" && <Button onClick={() => controller.retryNow()}>Try now</Button>}
    </div>
  );
}
