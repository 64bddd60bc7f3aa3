import { memo } from "react";
import { When } from "../parts/when.tsx";
import { shortTime } from "../parts/time.ts";
import type { SessionRow as Row } from "../state/state.ts";
import { sessionChannel } from "./session-title.ts";

interface Props {
  row: Row;
  title: string;
  /** Shown if there are several agents. */
  agentId?: string | undefined;
  isSelected: boolean;
  isRunning: boolean;
  isUnread: boolean;
  onOpen: (key: string) => void;
}

export const SessionRow = memo(function SessionRow(props: Props) {
  const { row, title, isSelected, isRunning, isUnread, onOpen } = props;
  const channel = sessionChannel(row);
  return (
    <li>
      <button
        type="button"
        className="session-row"
        data-key={row.key}
        data-unread={isUnread}
        aria-current={isSelected ? "true" : undefined}
        onClick={() => onOpen(row.key)}
      >
        <span className="row-line">
          <span className="row-title" dir="auto">
            {title}
          </span>
          <span className="row-time">
            <When at={row.updatedAt} format={shortTime} />
          </span>
        </span>
        <span className="row-line">
          <span className="row-preview" dir="auto">
            {row.lastMessagePreview ?? ""}
          </span>
          <span className="row-marks">
            {isRunning && <span className="running-dot" role="img" aria-label="Answering" />}
            {isUnread && <span className="unread-dot" role="img" aria-label="Unread" />}
            <span className="tag">{channel}</span>
            {props.agentId !== undefined && <span className="tag">{props.agentId}</span>}
          </span>
        </span>
      </button>
    </li>
  );
});
