-- Leases and nodes. A write of a session begins with `fence`, which locks the row of its lease until the commit, so
-- that no write of an old epoch can be committed after a newer one.

-- A node is dead if its connection is gone and it has not been seen lately. A wrong verdict is harmless: its writes
-- are fenced. After a restart of the server, all nodes get a moment to connect again. The lock of the check is shared,
-- so checks do not see each other.
CREATE FUNCTION holdfast.node_is_dead(p_node integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF pg_postmaster_start_time() > clock_timestamp() - interval '2 seconds' THEN
    RETURN false;
  END IF;
  PERFORM FROM holdfast.nodes WHERE id = p_node AND seen_at > clock_timestamp() - interval '700 milliseconds';
  IF FOUND THEN
    RETURN false;
  END IF;
  RETURN pg_try_advisory_xact_lock_shared(482716093, p_node);
END $$;

CREATE FUNCTION holdfast.lease_is_free(p_lease holdfast.leases) RETURNS boolean LANGUAGE sql AS $$
  SELECT p_lease.holder IS NULL OR p_lease.expires_at <= holdfast.now_ms() OR holdfast.node_is_dead(p_lease.node)
$$;

-- True, or an error. Called at the declaration of a variable, which is cheaper than a statement.
CREATE FUNCTION holdfast.fence(p_agent text, p_key text, p_epoch bigint, p_holder text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF p_holder IS NULL THEN
    RETURN true;
  END IF;
  PERFORM FROM holdfast.leases
    WHERE agent = p_agent AND key = p_key AND epoch = p_epoch AND holder = p_holder
    FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'lease lost' USING ERRCODE = 'HF001';
  END IF;
  RETURN true;
END $$;

-- Repeating a call with the same holder is harmless: a lost answer can be asked for again. With `p_claim`, the answer
-- also has the entry, with which the turn begins.
CREATE FUNCTION holdfast.acquire_lease(
  p_agent text, p_key text, p_holder text, p_process text, p_node integer, p_ttl double precision,
  p_claim boolean
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_lease holdfast.leases;
  v_claimed json;
  v_entry json;
BEGIN
  SELECT * INTO v_lease FROM holdfast.leases WHERE agent = p_agent AND key = p_key FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    INSERT INTO holdfast.leases (agent, key, epoch) VALUES (p_agent, p_key, 0) ON CONFLICT DO NOTHING;
    SELECT * INTO v_lease FROM holdfast.leases WHERE agent = p_agent AND key = p_key FOR NO KEY UPDATE;
  END IF;
  IF v_lease.holder = p_holder THEN
    RETURN (json_build_object('acquired', true, 'lease', v_lease), NULL)::holdfast.written;
  END IF;
  IF NOT holdfast.lease_is_free(v_lease) THEN
    RETURN (json_build_object('acquired', false, 'lease', v_lease), NULL)::holdfast.written;
  END IF;
  IF v_lease.holder IS NOT NULL THEN
    INSERT INTO holdfast.take_overs (agent, key) VALUES (p_agent, p_key);
  END IF;
  UPDATE holdfast.leases
    SET epoch = epoch + 1, holder = p_holder, process = p_process, node = p_node,
      expires_at = holdfast.now_ms() + p_ttl
    WHERE agent = p_agent AND key = p_key
    RETURNING * INTO v_lease;
  IF p_claim THEN
    v_claimed := holdfast.claim_only_item(p_agent, p_key);
    SELECT json_build_object('version', version, 'entry', entry) INTO v_entry
      FROM holdfast.entries WHERE agent = p_agent AND key = p_key;
  END IF;
  RETURN (
    json_build_object('acquired', true, 'lease', v_lease, 'claimed', v_claimed, 'entry', v_entry),
    concat_ws(',', holdfast.change(p_agent, 'lease', p_key),
      CASE WHEN v_claimed IS NOT NULL THEN holdfast.change(p_agent, 'inbox', p_key) END)
  )::holdfast.written;
END $$;

-- Renews the leases of one node together. Returns the new end of each, in the given order; null if it was lost.
CREATE FUNCTION holdfast.renew_leases(p_leases json) RETURNS json LANGUAGE sql AS $$
  WITH given AS (
    SELECT * FROM json_to_recordset(p_leases)
      AS given (nr integer, agent text, key text, epoch bigint, holder text, ttl double precision)
  ), renewed AS (
    UPDATE holdfast.leases AS lease SET expires_at = holdfast.now_ms() + given.ttl
    FROM given WHERE lease.agent = given.agent AND lease.key = given.key
      AND lease.epoch = given.epoch AND lease.holder = given.holder
    RETURNING given.nr, lease.expires_at
  )
  SELECT json_agg(renewed.expires_at ORDER BY given.nr) FROM given LEFT JOIN renewed USING (nr)
$$;

CREATE FUNCTION holdfast.release_lease(p_agent text, p_key text, p_holder text) RETURNS holdfast.written
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE holdfast.leases SET holder = NULL WHERE agent = p_agent AND key = p_key AND holder = p_holder;
  RETURN (to_json(FOUND), CASE WHEN FOUND THEN holdfast.change(p_agent, 'lease', p_key) END)::holdfast.written;
END $$;

-- Called several times a second by each node. Returns whether there are other nodes.
CREATE FUNCTION holdfast.beat(p_node integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE holdfast.nodes SET seen_at = clock_timestamp() WHERE id = p_node;
  RETURN EXISTS (
    SELECT FROM holdfast.nodes WHERE id <> p_node AND seen_at > clock_timestamp() - interval '10 seconds'
  );
END $$;

-- Removes changes that all nodes have read, and nodes that ended long ago. One node at a time.
CREATE FUNCTION holdfast.tidy() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(482716094) THEN
    RETURN;
  END IF;
  DELETE FROM holdfast.changes WHERE seq IN (
    SELECT seq FROM (SELECT seq, at FROM holdfast.changes ORDER BY seq LIMIT 5000) AS oldest
    WHERE at < clock_timestamp() - interval '1 minute'
  );
  DELETE FROM holdfast.nodes WHERE seen_at < clock_timestamp() - interval '1 day';
  DELETE FROM holdfast.take_overs WHERE at < clock_timestamp() - interval '1 day';
END $$;
