import { useEffect } from "react";
import { Chat } from "./chat/chat.tsx";
import { usePageState } from "./page-context.ts";
import { LinkBar } from "./parts/link-bar.tsx";
import { SessionList } from "./sessions/session-list.tsx";
import { isUnread } from "./state/reduce-sessions.ts";
import { SignIn } from "./sign-in.tsx";

export function App() {
  const isSignedOut = usePageState(({ link }) => link.state === "signed-out");
  const hasChat = usePageState(({ place }) => place.key !== undefined);
  const unread = usePageState((state) => state.sessions.rows?.filter((row) => isUnread(state, row)).length ?? 0);
  useEffect(() => {
    document.title = unread === 0 || isSignedOut ? "Holdfast" : `(${unread}) Holdfast`;
  }, [unread, isSignedOut]);
  if (isSignedOut) return <SignIn />;
  // On a narrow screen one of the two is shown.
  return (
    <div className="shell" data-pane={hasChat ? "chat" : "list"}>
      <LinkBar />
      <SessionList />
      <Chat />
    </div>
  );
}
