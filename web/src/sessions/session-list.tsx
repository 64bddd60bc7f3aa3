import { type KeyboardEvent, memo, useMemo, useRef, useState, useEffect } from "react";
import { useController, usePageState } from "../page-context.ts";
import { daysAgo, RowHead } from "../parts/time.tsx";
import { Button } from "../parts/button.tsx";
import { Logo, Icon } from "../parts/icons.tsx";
import type { PageState, SessionRow as Row } from "../state/state.ts";
import { newSessionKey, sessionChannel, sessionTitle } from "./session-title.ts";
import { isUnread, searchedText } from "../state/changes.ts";
import { FoundList } from "./found-list.tsx";

export function SessionList() {
  const controller = useController();
  const list = useRef<HTMLDivElement>(null);
  return (
    <aside className="sidebar" aria-label="Sessions">
      <header className="sidebar-head">
        <h1>
          <Logo />
          Holdfast
        </h1>
        <NewConversation />
      </header>
      <SessionFilter onEnterList={() => moveFocus(list.current, 1)} />
      <div
        className="session-scroll"
        ref={list}
        onKeyDown={(event) => {
          const step = ARROWS[event.key];
          if (step === undefined || !moveFocus(list.current, step)) return;
          event.preventDefault();
        }}
      >
        <Rows />
      </div>
      <footer className="sidebar-foot">
        <Button onClick={() => controller.signOut()}>Sign out</Button>
        <Version />
      </footer>
    </aside>
  );
}

function Version() {
  const version = usePageState(({ link }) => (link.state === "open" ? link.version : undefined));
  return version === undefined ? null : <span>{version}</span>;
}

function SessionFilter({ onEnterList }: { onEnterList: () => void }) {
  const controller = useController();
  const [text, setText] = useState("");
  const channel = usePageState(({ sessions }) => sessions.query.channel);
  const search = (value: string): void => {
    setText(value);
    controller.sessions.search(value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      onEnterList();
    }
    if (event.key !== "Escape" || text === "") return;
    event.preventDefault();
    search("");
  };
  return (
    <search className="session-filter">
      <span className="search-field">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Search everything"
          aria-label="Search sessions"
          value={text}
          onChange={(event) => search(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </span>
      <select
        aria-label="Channel"
        value={channel ?? ""}
        onChange={({ target }) => controller.sessions.chooseChannel(target.value === "" ? undefined : target.value)}
      >
        <option value="">All</option>
        {CHANNELS.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </search>
  );
}

function Rows() {
  const controller = useController();
  const sessions = usePageState((state) => state.sessions);
  const place = usePageState((state) => state.place);
  const agents = usePageState((state) => state.agents);
  const seen = usePageState((state) => state.seen);
  const seenSince = usePageState((state) => state.seenSince);
  // As a string: text changes the turns many times a second, but the running sessions rarely change.
  const running = usePageState(({ live }) => runningKeys(live));
  const { rows, problem } = sessions;
  const isSearch = searchedText(sessions.query) !== "";
  const groups = useMemo(() => groupSessions(rows ?? [], isSearch), [rows, isSearch]);
  const onOpen = useMemo(() => (key: string) => controller.open({ key }), [controller]);
  const hasManyAgents = (agents?.ids.length ?? 0) > 1;

  if (problem !== undefined && rows === undefined) {
    return (
      <p className="list-note problem" role="alert">
        {problem}
      </p>
    );
  }
  if (rows === undefined && !isSearch) return <p className="list-note">Loading…</p>;
  if (rows?.length === 0 && !isSearch) return <p className="list-note">{emptyText(sessions.query)}</p>;
  return (
    <>
      {groups.map(([name, group]) => (
        <section key={name} className="session-group" aria-label={name}>
          <h2>{name}</h2>
          <ul>
            {group.map((row) => (
              <SessionRow
                key={row.key}
                row={row}
                title={sessionTitle(row.key, row, agents)}
                agentId={hasManyAgents ? row.agentId : undefined}
                isSelected={row.key === place.key}
                isRunning={running.includes(`\n${row.key}\n`)}
                isUnread={isUnread({ seen, seenSince, place }, row)}
                onOpen={onOpen}
              />
            ))}
          </ul>
        </section>
      ))}
      {isSearch ? <FoundList /> : <LoadMore shown={rows?.length ?? 0} total={sessions.total} />}
    </>
  );
}

interface RowProps {
  row: Row;
  title: string;
  /** Shown if there are several agents. */
  agentId?: string | undefined;
  isSelected: boolean;
  isRunning: boolean;
  isUnread: boolean;
  onOpen: (key: string) => void;
}

const SessionRow = memo(function SessionRow(props: RowProps) {
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
        <RowHead title={title} at={row.updatedAt} />
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

/** A longer list would hide the passages below. */
const NAMED = 5;

/** In a search the sessions with these names, else all by the day of their last use. Both newest first. */
function groupSessions(rows: readonly Row[], isSearch: boolean): [name: string, rows: Row[]][] {
  if (isSearch) return rows.length === 0 ? [] : [["Names", rows.slice(0, NAMED)]];
  const now = Date.now();
  return [...Map.groupBy(rows, ({ updatedAt }) => groupName(updatedAt, now))];
}

const month = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });

function groupName(at: number, now: number): string {
  const days = daysAgo(at, now);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "This week";
  if (days < 31) return "This month";
  return month.format(at);
}

/** All channels, also those without a loaded session. */
const CHANNELS = ["web", "telegram", "discord", "whatsapp"];

const ARROWS: Record<string, number | undefined> = { ArrowDown: 1, ArrowUp: -1 };

function runningKeys(live: PageState["live"]): string {
  const keys = Object.entries(live).flatMap(([key, { hasEnded }]) => (hasEnded ? [] : [`\n${key}\n`]));
  return keys.join("");
}

function emptyText({ channel }: PageState["sessions"]["query"]): string {
  return channel === undefined ? "No conversations yet. Start one above." : "Nothing found.";
}

/** Moves between rows, or to the first one. False at the end. */
function moveFocus(list: HTMLElement | null, step: number): boolean {
  const rows = [...(list?.querySelectorAll<HTMLElement>(".session-row") ?? [])];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = rows[at === -1 ? 0 : at + step];
  next?.focus();
  return next !== undefined;
}

/** Loads the next page when the end of the list comes near. */
function LoadMore({ shown, total }: { shown: number; total: number }) {
  const controller = useController();
  const isLoading = usePageState(({ sessions }) => sessions.isLoading);
  const problem = usePageState(({ sessions }) => sessions.problem);
  const mark = useRef<HTMLDivElement>(null);
  const isWanted = shown < total && problem === undefined;
  useEffect(() => {
    if (mark.current === null || !isWanted) return undefined;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting === true) void controller.sessions.loadMore();
      },
      { root: mark.current.closest(".session-scroll"), rootMargin: "800px" },
    );
    watcher.observe(mark.current);
    return () => watcher.disconnect();
    // Observes again after each page, because the end may still be near.
  }, [controller, isWanted, shown, isLoading]);

  if (problem !== undefined) {
    return (
      <div className="list-note problem" role="alert">
        {problem}
        <Button onClick={() => void controller.sessions.refresh()}>Try again</Button>
      </div>
    );
  }
  if (!isWanted) return null;
  return (
    <div ref={mark} className="list-note">
      {shown} of {total}
    </div>
  );
}

/** Asks for the agent if there are several. */
function NewConversation() {
  const controller = useController();
  const agents = usePageState((state) => state.agents);
  const start = (agentId: string): void => controller.open({ key: newSessionKey(agentId) });
  if (agents === undefined || agents.ids.length < 2) {
    return (
      <Button
        icon="plus"
        className="new-conversation"
        disabled={agents === undefined}
        onClick={() => start(agents?.defaultId ?? "main")}
      >
        New
        <span className="hidden"> conversation</span>
      </Button>
    );
  }
  return (
    <span className="new-conversation choice">
      <Icon name="plus" />
      New
      <select aria-label="New conversation with" value="" onChange={({ target }) => start(target.value)}>
        <option value="" disabled>
          with…
        </option>
        {agents.ids.map((id) => (
          <option key={id}>{id}</option>
        ))}
      </select>
    </span>
  );
}
