-- The tables of the `postgres` store, version 1. A published file is never changed: a later version adds a file.
--
-- - Every row belongs to an agent. All agents and all nodes share these tables.
-- - Instants are milliseconds since 1970, as everywhere in Holdfast.
-- - JSON is stored as text. `jsonb` refuses \u0000 and half a surrogate pair, and changes the order of members.
-- - `version` comes from one sequence and is never used again, so an equal version proves that nothing happened.
-- - A connection keeps the plans of functions. With statistics of a nearly empty table, such a plan could read all of it
--   later, so statistics are made from 1,000 rows on.
-- - Only `now_ms()` decides whether a lease has expired, so the clocks of the nodes do not matter.

CREATE SEQUENCE holdfast.versions;

-- Processes that have taken a lease. Each holds a session advisory lock on (NODE_LOCKS, id) as long as it lives.
CREATE TABLE holdfast.nodes (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  process text NOT NULL,
  version text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- Never deleted, because epochs must not start again. `holder` is null after a release.
CREATE TABLE holdfast.leases (
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  holder text COLLATE "C",
  process text,
  node integer,
  expires_at double precision,
  PRIMARY KEY (agent, key)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);

-- Leases that were taken from a node that died or could not renew them. Kept for a day.
CREATE TABLE holdfast.take_overs (
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL
);
CREATE INDEX take_overs_by_time ON holdfast.take_overs (at);

-- `listing` repeats the listed fields as the text of a JSON object without its opening brace.
CREATE TABLE holdfast.entries (
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  updated_at double precision NOT NULL,
  kind text COLLATE "C" NOT NULL,
  channel text COLLATE "C",
  label text COLLATE "C",
  spawned_by text COLLATE "C",
  search text COLLATE "C" NOT NULL,
  listing text NOT NULL,
  entry text NOT NULL,
  PRIMARY KEY (agent, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
CREATE INDEX entries_by_update ON holdfast.entries (agent, updated_at DESC, key);
CREATE INDEX entries_by_label ON holdfast.entries (agent, label) WHERE label IS NOT NULL;

CREATE TABLE holdfast.windows (
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('holdfast.versions'),
  opened_at double precision NOT NULL,
  closed_at double precision,
  reason text NOT NULL,
  transcript text,
  archive text,
  state text,
  PRIMARY KEY (agent, key, session_id)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
CREATE INDEX windows_by_session ON holdfast.windows (agent, session_id);

CREATE TABLE holdfast.handoffs (
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  updated_at double precision NOT NULL,
  state text NOT NULL,
  PRIMARY KEY (agent, key)
);
CREATE INDEX handoffs_by_update ON holdfast.handoffs (agent, updated_at DESC, version DESC);

-- Group history and system events, one queue of items per key. `added` rises with each added item.
CREATE TABLE holdfast.pending (
  agent text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  added bigint NOT NULL,
  queue text NOT NULL,
  PRIMARY KEY (agent, kind, key)
);
CREATE INDEX pending_by_age ON holdfast.pending (agent, kind, added DESC);

CREATE TABLE holdfast.inbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  chat_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  received_at double precision NOT NULL,
  state text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  turn text,
  note text,
  ending text,
  UNIQUE (agent, channel, account_id, chat_id, message_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
CREATE INDEX inbox_pending ON holdfast.inbox (agent, key, id) WHERE state IN ('queued', 'running');
CREATE INDEX inbox_ended ON holdfast.inbox (agent, received_at) WHERE state IN ('done', 'dropped');
CREATE INDEX inbox_given_up ON holdfast.inbox (agent, id) WHERE note = 'given up';

CREATE TABLE holdfast.outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  target text NOT NULL,
  payload text NOT NULL,
  created_at double precision NOT NULL,
  state text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  due_at double precision NOT NULL,
  delivered_id text,
  note text,
  UNIQUE (agent, idempotency_key)
) WITH (autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
CREATE INDEX outbox_by_route ON holdfast.outbox (agent, channel, account_id, id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_by_key ON holdfast.outbox (agent, key, id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_settled ON holdfast.outbox (agent, created_at) WHERE state IN ('delivered', 'failed');
CREATE INDEX outbox_failed ON holdfast.outbox (agent, id) WHERE state = 'failed';

-- What each commit changed: a list of agent, what, key, channel and account. `writer` is a random number of the process.
-- Rows become visible out of order, so readers go by `xid`; see `changes.ts`. Old rows are pruned.
CREATE TABLE holdfast.changes (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  writer bigint NOT NULL,
  list json NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
CREATE INDEX changes_by_xid ON holdfast.changes (xid);

CREATE FUNCTION holdfast.now_ms() RETURNS double precision LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::double precision
$$;

-- What a write returns: its result, and its changes as the elements of a JSON array. Null: nothing has changed.
CREATE TYPE holdfast.written AS (result json, changes text);

CREATE FUNCTION holdfast.change(
  p_agent text, p_what text, p_key text, p_channel text DEFAULT NULL, p_account_id text DEFAULT NULL
) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_array(p_agent, p_what, p_key, p_channel, p_account_id)::text
$$;

-- Tells the other nodes what the writes of this statement have changed. The caller gets that and the results.
CREATE FUNCTION holdfast.publish(p_writer bigint, p_written holdfast.written[], OUT results json, OUT changes json)
LANGUAGE plpgsql AS $$
DECLARE
  v_list text;
BEGIN
  SELECT json_agg(result), string_agg(w.changes, ',') INTO results, v_list FROM unnest(p_written) AS w;
  IF v_list IS NOT NULL THEN
    changes := '[' || v_list || ']';
    INSERT INTO holdfast.changes (writer, list) VALUES (p_writer, changes);
  END IF;
END $$;

-- Writers of one session's entry, windows and hand-off take turns, also while there is no row to lock.
CREATE FUNCTION holdfast.lock_key(p_agent text, p_key text) RETURNS boolean LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(p_agent || ' ' || p_key, 0)) IS NOT NULL
$$;
