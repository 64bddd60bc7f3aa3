import { useController, usePageState } from "../page-context.ts";
import { BackIcon, HandoffIcon } from "../parts/icons.tsx";
import { sessionChannel, sessionTitle } from "../sessions/session-title.ts";
import { WindowMenu } from "./window-menu.tsx";

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
      <button
        type="button"
        className="quiet back"
        aria-label="Back to the sessions"
        onClick={() => controller.open({})}
      >
        <BackIcon />
      </button>
      <div className="chat-title">
        <h2 dir="auto" title={sessionKey}>
          {sessionTitle(sessionKey, row, agents, unlisted)}
        </h2>
        <p>{facts.filter((fact) => fact !== undefined).join(" · ")}</p>
      </div>
      <button
        type="button"
        className="quiet handoff-button"
        aria-expanded={hasPanel}
        aria-label="Hand-off"
        title="Notes for the next window"
        onClick={onPanel}
      >
        <HandoffIcon />
        <span className="handoff-button-text">Hand-off</span>
      </button>
      <WindowMenu sessionKey={sessionKey} />
    </header>
  );
}

function tokens(used: number | undefined, limit: number | undefined): string | undefined {
  if (used === undefined || used === 0) return undefined;
  const share = limit === undefined || limit === 0 ? "" : ` (${Math.round((used / limit) * 100)} %)`;
  return `${used.toLocaleString()} tokens${share}`;
}
