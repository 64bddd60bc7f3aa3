-- Entries, windows, hand-offs and pending items. A function that compares versions returns false, and changes nothing,
-- if the value has another version than the caller has read.

CREATE TYPE holdfast.entry_put AS (
  expected_version bigint,
  session_id text,
  updated_at double precision,
  kind text,
  channel text,
  label text,
  spawned_by text,
  search text,
  listing text,
  entry text,
  label_changed boolean,
  previous_session text,
  leaving text,
  transcript text,
  window_reason text,
  now double precision
);

-- The result is the new version; null if the entry has another one than expected.
CREATE FUNCTION holdfast.put_entry(
  p_agent text, p_key text, p_epoch bigint, p_holder text, p_put json
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
  v_version bigint := holdfast.apply_entry(p_agent, p_key, json_populate_record(NULL::holdfast.entry_put, p_put));
BEGIN
  RETURN (to_json(v_version), CASE WHEN v_version IS NOT NULL THEN holdfast.change(p_agent, 'entry', p_key) END)::holdfast.written;
END $$;

CREATE FUNCTION holdfast.apply_entry(p_agent text, p_key text, p_put holdfast.entry_put)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_locked boolean := holdfast.lock_key(p_agent, p_key);
  v_version bigint;
  v_other text;
BEGIN
  IF p_put.expected_version IS NULL THEN
    INSERT INTO holdfast.entries
      (agent, key, version, session_id, updated_at, kind, channel, label, spawned_by, search, listing, entry)
      VALUES (p_agent, p_key, nextval('holdfast.versions'), p_put.session_id, p_put.updated_at, p_put.kind,
        p_put.channel, p_put.label, p_put.spawned_by, p_put.search, p_put.listing, p_put.entry)
      ON CONFLICT DO NOTHING
      RETURNING version INTO v_version;
  ELSE
    UPDATE holdfast.entries SET
      (version, session_id, updated_at, kind, channel, label, spawned_by, search, listing, entry) =
      (nextval('holdfast.versions'), p_put.session_id, p_put.updated_at, p_put.kind, p_put.channel, p_put.label,
        p_put.spawned_by, p_put.search, p_put.listing, p_put.entry)
      WHERE agent = p_agent AND key = p_key AND version = p_put.expected_version
      RETURNING version INTO v_version;
  END IF;
  IF v_version IS NULL THEN
    RETURN NULL;
  END IF;
  IF p_put.label_changed AND p_put.label IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_agent || ' ' || p_put.label, 1));
    SELECT key INTO v_other FROM holdfast.entries
      WHERE agent = p_agent AND label = p_put.label AND key <> p_key LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'label in use' USING ERRCODE = 'HF006', DETAIL = v_other;
    END IF;
  END IF;
  PERFORM holdfast.move_window(p_agent, p_key, p_put);
  RETURN v_version;
END $$;

-- Closes and opens windows when the session id of a key changes. `openedWindow` in `store-rules.ts` is the same rule.
CREATE FUNCTION holdfast.move_window(p_agent text, p_key text, p_put holdfast.entry_put) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_transcript text;
BEGIN
  IF p_put.previous_session = p_put.session_id THEN
    SELECT transcript INTO v_transcript FROM holdfast.windows
      WHERE agent = p_agent AND key = p_key AND session_id = p_put.session_id;
    IF FOUND AND coalesce(p_put.transcript, v_transcript) IS NOT DISTINCT FROM v_transcript THEN
      RETURN;
    ELSIF FOUND THEN
      UPDATE holdfast.windows SET transcript = p_put.transcript
        WHERE agent = p_agent AND key = p_key AND session_id = p_put.session_id;
      RETURN;
    END IF;
  END IF;
  UPDATE holdfast.windows SET closed_at = p_put.now, state = p_put.leaving
    WHERE agent = p_agent AND key = p_key AND session_id = p_put.previous_session
      AND p_put.previous_session <> p_put.session_id;
  INSERT INTO holdfast.windows AS known (agent, key, session_id, opened_at, reason, transcript)
    VALUES (p_agent, p_key, p_put.session_id, p_put.now,
      coalesce(p_put.window_reason, CASE WHEN p_put.previous_session IS NULL THEN 'initial' ELSE 'switch' END),
      p_put.transcript)
    ON CONFLICT (agent, key, session_id) DO UPDATE SET
      (seq, opened_at, reason, transcript, closed_at, archive, state) =
      (excluded.seq, excluded.opened_at, excluded.reason, coalesce(excluded.transcript, known.transcript),
        NULL, NULL, NULL);
END $$;

CREATE FUNCTION holdfast.delete_entry(
  p_agent text, p_key text, p_epoch bigint, p_holder text, p_with_handoff boolean
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
  v_locked boolean := holdfast.lock_key(p_agent, p_key);
  v_handoff holdfast.written;
  v_entry text;
  v_windows json;
BEGIN
  DELETE FROM holdfast.entries WHERE agent = p_agent AND key = p_key RETURNING entry INTO v_entry;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  WITH gone AS (DELETE FROM holdfast.windows WHERE agent = p_agent AND key = p_key RETURNING *)
    SELECT coalesce(json_agg(gone ORDER BY closed_at IS NULL, opened_at, seq), '[]') INTO v_windows FROM gone;
  IF p_with_handoff THEN
    v_handoff := holdfast.delete_handoff(p_agent, p_key);
  END IF;
  RETURN (
    json_build_object('entry', v_entry, 'windows', v_windows),
    concat_ws(',', holdfast.change(p_agent, 'entry', p_key), v_handoff.changes)
  )::holdfast.written;
END $$;

CREATE FUNCTION holdfast.refuse_current_window(p_agent text, p_key text, p_session_id text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM holdfast.lock_key(p_agent, p_key);
  PERFORM FROM holdfast.entries WHERE agent = p_agent AND key = p_key AND session_id = p_session_id;
  IF FOUND THEN
    RAISE EXCEPTION 'window is current' USING ERRCODE = 'HF005';
  END IF;
END $$;

CREATE FUNCTION holdfast.put_window(
  p_agent text, p_key text, p_session_id text, p_opened_at double precision,
  p_closed_at double precision, p_reason text, p_transcript text, p_archive text, p_state text
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
BEGIN
  PERFORM holdfast.refuse_current_window(p_agent, p_key, p_session_id);
  INSERT INTO holdfast.windows (agent, key, session_id, opened_at, closed_at, reason, transcript, archive, state)
    VALUES (p_agent, p_key, p_session_id, p_opened_at, p_closed_at, p_reason, p_transcript, p_archive, p_state)
    ON CONFLICT (agent, key, session_id) DO UPDATE SET
      (seq, opened_at, closed_at, reason, transcript, archive, state) =
      (excluded.seq, excluded.opened_at, excluded.closed_at, excluded.reason, excluded.transcript, excluded.archive,
        excluded.state);
  RETURN (to_json(true), holdfast.change(p_agent, 'entry', p_key))::holdfast.written;
END $$;

CREATE FUNCTION holdfast.remove_window(p_agent text, p_key text, p_session_id text) RETURNS holdfast.written
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM holdfast.refuse_current_window(p_agent, p_key, p_session_id);
  DELETE FROM holdfast.windows WHERE agent = p_agent AND key = p_key AND session_id = p_session_id;
  RETURN (to_json(FOUND), CASE WHEN FOUND THEN holdfast.change(p_agent, 'entry', p_key) END)::holdfast.written;
END $$;

CREATE FUNCTION holdfast.put_handoff(
  p_agent text, p_key text, p_expected_version bigint, p_state text, p_of_window text,
  p_now double precision
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_locked boolean := holdfast.lock_key(p_agent, p_key);
  v_version bigint;
BEGIN
  IF p_of_window IS NOT NULL THEN
    PERFORM FROM holdfast.windows WHERE agent = p_agent AND key = p_key AND session_id = p_of_window;
    IF NOT FOUND THEN
      RETURN (to_json(false), NULL)::holdfast.written;
    END IF;
  END IF;
  SELECT version INTO v_version FROM holdfast.handoffs WHERE agent = p_agent AND key = p_key;
  IF v_version IS DISTINCT FROM p_expected_version THEN
    RETURN (to_json(false), NULL)::holdfast.written;
  END IF;
  INSERT INTO holdfast.handoffs (agent, key, version, updated_at, state)
    VALUES (p_agent, p_key, nextval('holdfast.versions'), p_now, p_state)
    ON CONFLICT (agent, key) DO UPDATE SET
      (version, updated_at, state) = (excluded.version, excluded.updated_at, excluded.state);
  RETURN (to_json(true), holdfast.change(p_agent, 'handoff', p_key))::holdfast.written;
END $$;

CREATE FUNCTION holdfast.delete_handoff(p_agent text, p_key text) RETURNS holdfast.written
LANGUAGE plpgsql AS $$
DECLARE
  v_locked boolean := holdfast.lock_key(p_agent, p_key);
BEGIN
  DELETE FROM holdfast.handoffs WHERE agent = p_agent AND key = p_key;
  RETURN (to_json(FOUND), CASE WHEN FOUND THEN holdfast.change(p_agent, 'handoff', p_key) END)::holdfast.written;
END $$;

-- `pending.ts` decides what the queue becomes; a null queue is removed. An added item makes its key the newest, and
-- may evict the oldest keys of the kind.
CREATE FUNCTION holdfast.put_pending(
  p_agent text, p_kind text, p_key text, p_expected_version bigint, p_queue text, p_is_added boolean,
  p_max_keys integer
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_queue IS NULL THEN
    DELETE FROM holdfast.pending
      WHERE agent = p_agent AND kind = p_kind AND key = p_key AND version = p_expected_version;
    RETURN FOUND OR p_expected_version IS NULL;
  ELSIF p_expected_version IS NULL THEN
    -- One new key at a time: each counts those before it.
    PERFORM pg_advisory_xact_lock(482716095, hashtext(p_agent || ' ' || p_kind));
    INSERT INTO holdfast.pending (agent, kind, key, version, added, queue)
      VALUES (p_agent, p_kind, p_key, nextval('holdfast.versions'), nextval('holdfast.versions'), p_queue)
      ON CONFLICT DO NOTHING;
  ELSE
    UPDATE holdfast.pending
      SET version = nextval('holdfast.versions'), queue = p_queue,
        added = CASE WHEN p_is_added THEN nextval('holdfast.versions') ELSE added END
      WHERE agent = p_agent AND kind = p_kind AND key = p_key AND version = p_expected_version;
  END IF;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF p_expected_version IS NULL AND p_max_keys IS NOT NULL THEN
    DELETE FROM holdfast.pending WHERE agent = p_agent AND kind = p_kind AND added <= (
      SELECT added FROM holdfast.pending WHERE agent = p_agent AND kind = p_kind
      ORDER BY added DESC OFFSET p_max_keys LIMIT 1
    );
  END IF;
  RETURN true;
END $$;
