import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { useController, usePageState } from "../page-context.ts";
import { Logo, SearchIcon } from "../parts/icons.tsx";
import { isUnread } from "../state/reduce-sessions.ts";
import type { PageState } from "../state/state.ts";
import { groupSessions } from "./group-sessions.ts";
import { LoadMore } from "./load-more.tsx";
import { NewConversation } from "./new-conversation.tsx";
import { SessionRow } from "./session-row.tsx";
import { sessionTitle } from "./session-title.ts";

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
        <button type="button" className="quiet" onClick={() => controller.signOut()}>
          Sign out
        </button>
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
        <SearchIcon />
        <input
          type="search"
          placeholder="Search sessions"
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
  // As text: words that arrive change the turns many times a second, and who runs hardly ever.
  const running = usePageState(({ live }) => runningKeys(live));
  const { rows, problem } = sessions;
  const groups = useMemo(() => groupSessions(rows ?? [], Date.now()), [rows]);
  const onOpen = useMemo(() => (key: string) => controller.open({ key }), [controller]);
  const hasManyAgents = (agents?.ids.length ?? 0) > 1;

  if (problem !== undefined && rows === undefined) {
    return (
      <p className="list-note problem" role="alert">
        {problem}
      </p>
    );
  }
  if (rows === undefined) return <p className="list-note">Loading…</p>;
  if (rows.length === 0) return <p className="list-note">{emptyText(sessions.query)}</p>;
  return (
    <>
      {groups.map((group) => (
        <section key={group.name} className="session-group" aria-label={group.name}>
          <h2>{group.name}</h2>
          <ul>
            {group.rows.map((row) => (
              <SessionRow
                key={row.key}
                row={row}
                title={sessionTitle(row.key, row, agents)}
                {...(hasManyAgents ? { agentId: row.agentId } : {})}
                isSelected={row.key === place.key}
                isRunning={running.includes(`\n${row.key}\n`)}
                isUnread={isUnread({ seen, seenSince, place }, row)}
                onOpen={onOpen}
              />
            ))}
          </ul>
        </section>
      ))}
      <LoadMore shown={rows.length} total={sessions.total} />
    </>
  );
}

/** The names that the gateway knows; a person chooses by them, whether or not such a session is loaded. */
const CHANNELS = ["web", "telegram", "discord", "whatsapp"];

const ARROWS: Record<string, number | undefined> = { ArrowDown: 1, ArrowUp: -1 };

function runningKeys(live: PageState["live"]): string {
  const keys = Object.entries(live).flatMap(([key, { hasEnded }]) => (hasEnded ? [] : [`\n${key}\n`]));
  return keys.join("");
}

function emptyText({ search, channel }: { search: string; channel: string | undefined }): string {
  return search.trim() === "" && channel === undefined ? "No conversations yet. Start one above." : "Nothing found.";
}

/** From row to row; into the list from above. False when there is none further on. */
function moveFocus(list: HTMLElement | null, step: number): boolean {
  const rows = [...(list?.querySelectorAll<HTMLElement>(".session-row") ?? [])];
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = rows[at === -1 ? 0 : at + step];
  next?.focus();
  return next !== undefined;
}
