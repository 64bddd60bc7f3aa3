/**
 * Tells the stores of this process what other nodes did. A commit is announced by an empty NOTIFY, at most one every 10
 * ms, because NOTIFY takes a lock of the whole server. A poll each second finds the rest.
 *
 * Rows of `changes` become visible in another order than they were numbered. A reader therefore reads by transaction:
 * all that ended below the oldest running one, and the next time everything from there on.
 */
import type { Logger } from "../../base/log.ts";
import type { StoreChange } from "../store.ts";
import type { Connection, Row } from "./connection.ts";

export interface ChangeHub {
  /** Calls `tell` for changes of this agent by other handles. Returns a function that stops it. */
  listen(agentId: string, tell: Tell): () => void;
  /** Tells the handles of this process and of others about the changes in the answer to a write. */
  committed(answer: Row): void;
  /** Reads the changes of other nodes now. */
  look(): void;
  /** The answer to a write was lost, and with it its changes: reports everything that can have changed. */
  answerLost(): void;
  close(): Promise<void>;
}

interface Position {
  /** Transactions below have been read. */
  xmin: string;
  /** The server's time of the reading (ms). Undefined before the first one. */
  at: number | undefined;
  /** The same by the monotonic clock of this process. */
  readAt: number;
}

type Tell = (changes: readonly StoreChange[]) => void;

interface ChangeHubOptions extends Pick<Connection, "query"> {
  /** Makes the direct connection, on which the announcements arrive. */
  register: () => Promise<unknown>;
  /** The random number that marks the changes of this process. */
  writer: number;
  /** The oldest running transaction when the node was opened. */
  xmin: string;
  /** False if no other node needs an announcement. */
  hasOthers: () => boolean;
  logger: Logger;
}

const POLL_MS = 1000;
const ANNOUNCE_MS = 10;
/** Changes are kept for a minute. */
const MISSED_AFTER_MS = 50_000;

export function createChangeHub({
  query,
  register,
  writer,
  xmin: first,
  hasOthers,
  logger,
}: ChangeHubOptions): ChangeHub {
  const handles = new Set<{ agentId: string; tell: Tell }>();
  let position: Position | undefined = { xmin: first, at: undefined, readAt: performance.now() };
  let polling: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isAskedAgain = false;
  let isAnswerLost = false;
  let announcing: NodeJS.Timeout | undefined;
  let announced: Promise<unknown> = Promise.resolve();
  let isAnnouncementDue = false;

  const tellHandles = (rows: readonly ChangeRow[]): void => {
    const byAgent = Map.groupBy(rows, ([agentId]) => agentId);
    for (const { agentId, tell } of handles) {
      const own = byAgent.get(agentId);
      if (own !== undefined) tell(own.map(toChange));
    }
  };
  const readChanges = async (): Promise<void> => {
    const readAt = performance.now();
    const [row] = await query(CHANGES, [position?.xmin, writer], { isRepeatable: true });
    const { xmin, at, changes } = row as unknown as { xmin: string; at: number; changes: ChangeRow[][] | null };
    const isLate = position?.at !== undefined && at - position.at > MISSED_AFTER_MS;
    const isMissed = isLate || isAnswerLost;
    isAnswerLost = false;
    position = { xmin, at, readAt };
    tellHandles(isMissed ? await readEverything(query) : (changes ?? []).flat());
  };
  const look = (): void => {
    if (polling === undefined) return;
    if (looking !== undefined) {
      isAskedAgain = true;
      return;
    }
    isAskedAgain = false;
    looking = readChanges()
      .catch((error: unknown) => logger.warn("Changes of other nodes could not be read", { error }))
      .finally(() => {
        looking = undefined;
        if (isAskedAgain) look();
      });
  };
  const start = (): void => {
    // Earlier changes do not count. A position that is not old leaves no gap until the first reading.
    const isOld = position !== undefined && performance.now() - position.readAt > MISSED_AFTER_MS;
    if (isOld) position = undefined;
    polling = setInterval(look, POLL_MS).unref();
    look();
    register().catch((error: unknown) => logger.warn("Changes of other nodes are only polled", { error }));
  };
  const stop = (): void => {
    clearInterval(polling);
    polling = undefined;
  };
  /** The first of a burst is announced at once, the others together. */
  const announce = (): void => {
    isAnnouncementDue = announcing !== undefined;
    if (isAnnouncementDue) return;
    announced = query("SELECT pg_notify('holdfast', '')", [], { isRepeatable: true }).catch(() => undefined);
    announcing = setTimeout(() => {
      announcing = undefined;
      if (isAnnouncementDue) announce();
    }, ANNOUNCE_MS);
  };

  return {
    listen: (agentId, tell) => {
      const handle = { agentId, tell };
      handles.add(handle);
      if (polling === undefined) start();
      return () => {
        handles.delete(handle);
        if (handles.size === 0) stop();
      };
    },
    committed: (answer) => {
      const changes = answer["changes"] as unknown as ChangeRow[] | null;
      if (changes === null) return;
      tellHandles(changes);
      if (hasOthers()) announce();
    },
    look,
    answerLost: () => {
      isAnswerLost = true;
      look();
    },
    close: async () => {
      stop();
      clearTimeout(announcing);
      announcing = undefined;
      if (isAnnouncementDue) announce();
      clearTimeout(announcing);
      await Promise.all([looking, announced]);
    },
  };
}

type ChangeRow = readonly [
  agentId: string,
  what: StoreChange["what"],
  key: string,
  channel?: string | null,
  accountId?: string | null,
];

function toChange([, what, key, channel, accountId]: ChangeRow): StoreChange {
  return typeof channel === "string" && typeof accountId === "string"
    ? { what, key, route: { channel, accountId } }
    : { what, key };
}

/** Without a position, only where the next reading begins. */
const CHANGES = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, extract(epoch FROM clock_timestamp())::float8 * 1000 AS at,
    (SELECT json_agg(list ORDER BY seq) FROM holdfast.changes
     WHERE xid >= $1::xid8 AND xid < pg_snapshot_xmin(pg_current_snapshot()) AND writer <> $2)
      AS changes`;

/** For a node that has missed changes: everything that can have changed. */
async function readEverything(query: Connection["query"]): Promise<ChangeRow[]> {
  const [row] = await query(
    `SELECT json_agg(json_build_array(agent, what, key)) AS changes FROM (
       SELECT agent, 'entry' AS what, key FROM holdfast.entries
       UNION SELECT agent, 'lease', key FROM holdfast.leases
       UNION SELECT agent, 'inbox', key FROM holdfast.inbox WHERE state IN ('queued', 'running')
       UNION SELECT agent, 'outbox', key FROM holdfast.outbox WHERE state IN ('pending', 'sending')
       UNION SELECT agent, 'handoff', key FROM holdfast.handoffs
     ) AS everything`,
    [],
    { isRepeatable: true },
  );
  return (row?.["changes"] ?? []) as unknown as ChangeRow[];
}
