-- Inbox and outbox.

CREATE FUNCTION holdfast.admit_message(
  p_agent text, p_key text, p_channel text, p_account_id text, p_chat_id text, p_message_id text,
  p_payload text, p_received_at double precision
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_item holdfast.inbox;
BEGIN
  LOOP
    INSERT INTO holdfast.inbox
      (agent, key, channel, account_id, chat_id, message_id, payload, received_at, state, attempts)
      VALUES (p_agent, p_key, p_channel, p_account_id, p_chat_id, p_message_id, p_payload, p_received_at, 'queued', 0)
      ON CONFLICT DO NOTHING
      RETURNING * INTO v_item;
    IF FOUND THEN
      RETURN (json_build_object('admitted', true, 'item', v_item), holdfast.change(p_agent, 'inbox', p_key))::holdfast.written;
    END IF;
    SELECT * INTO v_item FROM holdfast.inbox
      WHERE agent = p_agent AND channel = p_channel AND account_id = p_account_id AND chat_id = p_chat_id
        AND message_id = p_message_id;
    IF FOUND THEN
      RETURN (json_build_object('admitted', false, 'item', v_item), NULL)::holdfast.written;
    END IF;
  END LOOP;
END $$;

-- The key's pending item, claimed if it is the only one and was never started.
CREATE FUNCTION holdfast.claim_only_item(p_agent text, p_key text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  v_item holdfast.inbox;
BEGIN
  UPDATE holdfast.inbox SET state = 'running', attempts = 1
    WHERE state = 'queued' AND attempts = 0 AND note IS NULL AND id = (
      SELECT min(id) FROM holdfast.inbox
      WHERE agent = p_agent AND key = p_key AND state IN ('queued', 'running') HAVING count(*) = 1
    )
    RETURNING * INTO v_item;
  RETURN CASE WHEN FOUND THEN row_to_json(v_item) END;
END $$;

-- `p_ids` null: all of the key.
CREATE FUNCTION holdfast.claim_items(
  p_agent text, p_key text, p_epoch bigint, p_holder text, p_ids bigint[], p_limit integer, p_turn text
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
  v_items json;
BEGIN
  WITH chosen AS (
    SELECT id FROM holdfast.inbox
      WHERE agent = p_agent AND key = p_key AND state = 'queued' AND (p_ids IS NULL OR id = ANY (p_ids))
      ORDER BY id LIMIT p_limit FOR UPDATE
  ), moved AS (
    UPDATE holdfast.inbox AS item
      SET state = 'running', attempts = attempts + 1, turn = coalesce(p_turn, turn)
      FROM chosen WHERE item.id = chosen.id RETURNING item.*
  )
  SELECT json_agg(moved ORDER BY id) INTO v_items FROM moved;
  RETURN holdfast.moved_items(p_agent, p_key, v_items);
END $$;

CREATE FUNCTION holdfast.moved_items(p_agent text, p_key text, p_items json, p_changes text DEFAULT NULL)
RETURNS holdfast.written LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_items IS NULL THEN ('[]'::json, NULL)::holdfast.written
    ELSE (p_items, concat_ws(',', holdfast.change(p_agent, 'inbox', p_key), p_changes))::holdfast.written END
$$;

-- `p_apart` is the ending of the names of separated turns; null: each item keeps its turn.
CREATE FUNCTION holdfast.requeue_items(
  p_agent text, p_key text, p_epoch bigint, p_holder text, p_ids bigint[], p_apart text, p_excuse text
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
  v_items json;
BEGIN
  WITH moved AS (
    UPDATE holdfast.inbox
      SET state = 'queued',
        attempts = CASE WHEN p_excuse IS NULL THEN attempts ELSE attempts - 1 END,
        note = coalesce(p_excuse, note),
        turn = coalesce(id || p_apart, turn)
      WHERE agent = p_agent AND key = p_key AND state = 'running' AND (p_ids IS NULL OR id = ANY (p_ids))
      RETURNING *
  )
  SELECT json_agg(moved ORDER BY id) INTO v_items FROM moved;
  RETURN holdfast.moved_items(p_agent, p_key, v_items);
END $$;

-- The result is null, and nothing is changed, if the entry has another version.
CREATE FUNCTION holdfast.finish_items(
  p_agent text, p_key text, p_epoch bigint, p_holder text, p_ids bigint[], p_note text, p_ending text,
  p_drafts json, p_put json, p_release boolean, p_start_sending boolean, p_now double precision
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
  v_ended bigint[];
  v_released holdfast.written;
  v_replies holdfast.written;
BEGIN
  IF p_put IS NOT NULL AND holdfast.apply_entry(
    p_agent, p_key, json_populate_record(NULL::holdfast.entry_put, p_put)
  ) IS NULL THEN
    RETURN NULL;
  END IF;
  WITH ended AS (
    UPDATE holdfast.inbox SET state = 'done', note = coalesce(p_note, note), ending = p_ending
      WHERE id = ANY (p_ids) AND agent = p_agent AND key = p_key AND state = 'running' RETURNING id
  )
  SELECT array_agg(id) INTO v_ended FROM ended;
  IF NOT coalesce(v_ended, '{}') @> p_ids THEN
    RAISE EXCEPTION 'inbox item is not running' USING ERRCODE = 'HF002',
      DETAIL = (SELECT min(id) FROM unnest(p_ids) AS id WHERE id <> ALL (coalesce(v_ended, '{}')));
  END IF;
  IF p_release THEN
    v_released := holdfast.release_lease(p_agent, p_key, p_holder);
  END IF;
  v_replies := holdfast.add_drafts(p_agent, p_key, p_drafts, p_now, p_start_sending);
  RETURN (v_replies.result, nullif(concat_ws(',',
    CASE WHEN p_put IS NOT NULL THEN holdfast.change(p_agent, 'entry', p_key) END,
    CASE WHEN v_ended IS NOT NULL THEN holdfast.change(p_agent, 'inbox', p_key) END,
    v_released.changes, v_replies.changes), ''))::holdfast.written;
END $$;

-- Drafts of dropped items only: each names its item in `item_id`.
CREATE FUNCTION holdfast.drop_items(
  p_agent text, p_key text, p_ids bigint[], p_note text, p_drafts json, p_now double precision
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_items json;
  v_dropped bigint[];
  v_replies holdfast.written;
BEGIN
  WITH chosen AS (
    SELECT id FROM holdfast.inbox
      WHERE agent = p_agent AND key = p_key AND state = 'queued' AND id = ANY (p_ids) ORDER BY id FOR UPDATE
  ), moved AS (
    UPDATE holdfast.inbox AS item SET state = 'dropped', note = p_note
      FROM chosen WHERE item.id = chosen.id RETURNING item.*
  )
  SELECT json_agg(moved ORDER BY id), array_agg(id) INTO v_items, v_dropped FROM moved;
  v_replies := holdfast.add_drafts(p_agent, p_key, (
    SELECT json_agg(draft) FROM json_array_elements(p_drafts) AS draft
    WHERE (draft ->> 'item_id')::bigint = ANY (v_dropped)
  ), p_now);
  RETURN holdfast.moved_items(p_agent, p_key, v_items, v_replies.changes);
END $$;

CREATE FUNCTION holdfast.enqueue_drafts(
  p_agent text, p_key text, p_epoch bigint, p_holder text, p_drafts json, p_now double precision
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
BEGIN
  RETURN holdfast.add_drafts(p_agent, p_key, p_drafts, p_now);
END $$;

-- Adds the drafts that are not there yet. The result is all of them in order. With `p_start`, the first is added as
-- being sent, and the result is empty if an earlier reply must be sent first or if it is a repeated draft: it may have
-- been sent.
CREATE FUNCTION holdfast.add_drafts(
  p_agent text, p_key text, p_drafts json, p_now double precision, p_start boolean DEFAULT false
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_draft record;
  v_item holdfast.outbox;
  v_starts boolean := p_start AND NOT EXISTS (
    SELECT FROM holdfast.outbox WHERE agent = p_agent AND key = p_key AND state IN ('pending', 'sending')
  );
  v_is_started boolean := false;
  v_items json[] := '{}';
  v_changes text;
BEGIN
  FOR v_draft IN
    SELECT * FROM json_to_recordset(coalesce(p_drafts, '[]'))
      AS draft (idempotency_key text, channel text, account_id text, target text, payload text)
  LOOP
    LOOP
      INSERT INTO holdfast.outbox (agent, key, idempotency_key, channel, account_id, target, payload, created_at,
          due_at, state, attempts)
        VALUES (p_agent, p_key, v_draft.idempotency_key, v_draft.channel, v_draft.account_id, v_draft.target,
          v_draft.payload, p_now, holdfast.now_ms(), CASE WHEN v_starts THEN 'sending' ELSE 'pending' END, v_starts::integer)
        ON CONFLICT DO NOTHING
        RETURNING * INTO v_item;
      IF FOUND THEN
        v_is_started := v_is_started OR v_starts;
        v_changes := concat_ws(',', v_changes,
          holdfast.change(p_agent, 'outbox', p_key, v_draft.channel, v_draft.account_id));
        EXIT;
      END IF;
      SELECT * INTO v_item FROM holdfast.outbox
        WHERE agent = p_agent AND idempotency_key = v_draft.idempotency_key;
      EXIT WHEN FOUND;
    END LOOP;
    v_starts := false;
    v_items := v_items || row_to_json(v_item);
  END LOOP;
  RETURN (CASE WHEN p_start AND NOT v_is_started THEN '[]' ELSE array_to_json(v_items) END, v_changes)::holdfast.written;
END $$;

-- True for the one caller that knows the right number of attempts. Here and below, the id is enough: with the agent as a
-- second condition, a plan may read all replies of the agent.
CREATE FUNCTION holdfast.start_sending(p_agent text, p_id bigint, p_attempts integer) RETURNS holdfast.written
LANGUAGE plpgsql AS $$
DECLARE
  v_item holdfast.outbox;
BEGIN
  UPDATE holdfast.outbox SET state = 'sending', attempts = attempts + 1
    WHERE id = p_id AND attempts = p_attempts AND state IN ('pending', 'sending')
    RETURNING * INTO v_item;
  RETURN (to_json(FOUND),
    CASE WHEN FOUND THEN holdfast.change(p_agent, 'outbox', v_item.key, v_item.channel, v_item.account_id) END)::holdfast.written;
END $$;

-- `delivered` is final, whatever is reported later. `p_delay` is the time to the next attempt: clocks of nodes differ.
CREATE FUNCTION holdfast.settle_delivery(
  p_agent text, p_id bigint, p_state text, p_delay double precision, p_delivered_id text, p_note text
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_item holdfast.outbox;
BEGIN
  UPDATE holdfast.outbox
    SET state = p_state, due_at = coalesce(holdfast.now_ms() + p_delay, due_at), note = coalesce(p_note, note),
      delivered_id = p_delivered_id
    WHERE id = p_id AND state <> 'delivered'
    RETURNING * INTO v_item;
  IF FOUND THEN
    RETURN (to_json(true), holdfast.change(p_agent, 'outbox', v_item.key, v_item.channel, v_item.account_id))::holdfast.written;
  END IF;
  PERFORM FROM holdfast.outbox WHERE id = p_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no such outbox item' USING ERRCODE = 'HF003';
  ELSIF p_state <> 'delivered' THEN
    RAISE EXCEPTION 'already delivered' USING ERRCODE = 'HF004';
  END IF;
  RETURN (to_json(false), NULL)::holdfast.written;
END $$;

CREATE FUNCTION holdfast.prune_inbox(p_agent text, p_before double precision, p_limit integer) RETURNS bigint
LANGUAGE sql AS $$
  WITH gone AS (
    DELETE FROM holdfast.inbox WHERE id IN (
      SELECT id FROM holdfast.inbox
      WHERE agent = p_agent AND state IN ('done', 'dropped') AND received_at < p_before
      ORDER BY received_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  )
  SELECT count(*) FROM gone
$$;

CREATE FUNCTION holdfast.prune_outbox(p_agent text, p_before double precision, p_limit integer) RETURNS bigint
LANGUAGE sql AS $$
  WITH gone AS (
    DELETE FROM holdfast.outbox WHERE id IN (
      SELECT id FROM holdfast.outbox
      WHERE agent = p_agent AND state IN ('delivered', 'failed') AND created_at < p_before
      ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) RETURNING 1
  )
  SELECT count(*) FROM gone
$$;
