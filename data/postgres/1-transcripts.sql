-- Transcripts and documents. A transcript is a name for a content, and a content is bytes in parts, so a rewrite changes
-- one row, and the original stays under another name. The nodes keep files as copies.

-- Parts from `size` on belong to an append that has not ended, and are not read.
CREATE TABLE holdfast.contents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  size bigint NOT NULL DEFAULT 0,
  changed_at double precision NOT NULL DEFAULT holdfast.now_ms()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);

CREATE TABLE holdfast.parts (
  content bigint NOT NULL,
  at bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (content, at)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);

-- `parent` is the name of the transcript that a fork continues.
CREATE TABLE holdfast.transcripts (
  agent text COLLATE "C" NOT NULL,
  folder text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  content bigint NOT NULL,
  parent text COLLATE "C",
  PRIMARY KEY (agent, folder, name)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000);
CREATE INDEX transcripts_by_content ON holdfast.transcripts (content);

-- Repeating a call with the same bytes is harmless, here and below.
CREATE FUNCTION holdfast.create_transcript(
  p_agent text, p_folder text, p_name text, p_parent text, p_bytes bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_content bigint;
BEGIN
  INSERT INTO holdfast.contents (size) VALUES (length(p_bytes)) RETURNING id INTO v_content;
  INSERT INTO holdfast.transcripts (agent, folder, name, content, parent)
    VALUES (p_agent, p_folder, p_name, v_content, p_parent)
    ON CONFLICT DO NOTHING;
  IF FOUND THEN
    INSERT INTO holdfast.parts (content, at, bytes) VALUES (v_content, 0, p_bytes);
    RETURN true;
  END IF;
  DELETE FROM holdfast.contents WHERE id = v_content;
  RETURN EXISTS (
    SELECT FROM holdfast.transcripts t
      JOIN holdfast.contents c ON c.id = t.content
      JOIN holdfast.parts p ON p.content = c.id AND p.at = 0
      WHERE t.agent = p_agent AND t.folder = p_folder AND t.name = p_name
        AND c.size = length(p_bytes) AND p.bytes = p_bytes
  );
END $$;

-- Null: there is no such transcript. `held` is false if the lease is not the newest. A function, because its plan is kept.
CREATE FUNCTION holdfast.find_transcript(
  p_agent text, p_folder text, p_name text, p_key text, p_epoch bigint, p_holder text,
  OUT content bigint, OUT size bigint, OUT parent text, OUT held boolean
) LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT c.id, c.size, t.parent INTO content, size, parent
    FROM holdfast.transcripts t JOIN holdfast.contents c ON c.id = t.content
    WHERE t.agent = p_agent AND t.folder = p_folder AND t.name = p_name;
  held := EXISTS (
    SELECT FROM holdfast.leases WHERE agent = p_agent AND key = p_key AND epoch = p_epoch AND holder = p_holder
  );
END $$;

-- Adds a part at `p_at` to a transcript of `p_size` bytes. The last part makes all of them visible. Returns false if
-- the size is another one.
CREATE FUNCTION holdfast.append_part(
  p_agent text, p_folder text, p_name text, p_size bigint, p_at bigint, p_bytes bytea, p_is_last boolean,
  p_key text, p_epoch bigint, p_holder text
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
  v_content bigint;
  v_size bigint;
BEGIN
  SELECT c.id, c.size INTO v_content, v_size
    FROM holdfast.transcripts t JOIN holdfast.contents c ON c.id = t.content
    WHERE t.agent = p_agent AND t.folder = p_folder AND t.name = p_name
    FOR NO KEY UPDATE OF c;
  IF v_size IS DISTINCT FROM p_size THEN
    RETURN (to_json(p_is_last AND v_size = p_at + length(p_bytes) AND EXISTS (
      SELECT FROM holdfast.parts WHERE content = v_content AND at = p_at AND bytes = p_bytes
    )), NULL)::holdfast.written;
  END IF;
  DELETE FROM holdfast.parts WHERE content = v_content AND at >= p_at;
  INSERT INTO holdfast.parts (content, at, bytes) VALUES (v_content, p_at, p_bytes);
  IF p_is_last THEN
    UPDATE holdfast.contents SET size = p_at + length(p_bytes), changed_at = holdfast.now_ms() WHERE id = v_content;
  END IF;
  RETURN (to_json(true), NULL)::holdfast.written;
END $$;

-- For a content that has no name yet.
CREATE FUNCTION holdfast.add_part(p_content bigint, p_at bigint, p_bytes bytea) RETURNS void LANGUAGE sql AS $$
  INSERT INTO holdfast.parts (content, at, bytes) VALUES (p_content, p_at, p_bytes)
    ON CONFLICT (content, at) DO UPDATE SET bytes = EXCLUDED.bytes;
  UPDATE holdfast.contents SET size = p_at + length(p_bytes), changed_at = holdfast.now_ms() WHERE id = p_content;
$$;

-- Gives a transcript a new content, and keeps the old one under another name. Returns false if it has moved.
CREATE FUNCTION holdfast.replace_content(
  p_agent text, p_folder text, p_name text, p_old bigint, p_new bigint, p_kept_as text,
  p_key text, p_epoch bigint, p_holder text
) RETURNS holdfast.written LANGUAGE plpgsql AS $$
DECLARE
  v_fence boolean := holdfast.fence(p_agent, p_key, p_epoch, p_holder);
BEGIN
  UPDATE holdfast.transcripts SET content = p_new
    WHERE agent = p_agent AND folder = p_folder AND name = p_name AND content IN (p_old, p_new);
  IF NOT FOUND THEN
    RETURN (to_json(false), NULL)::holdfast.written;
  END IF;
  INSERT INTO holdfast.transcripts (agent, folder, name, content) VALUES (p_agent, p_folder, p_kept_as, p_old)
    ON CONFLICT DO NOTHING;
  RETURN (to_json(true), NULL)::holdfast.written;
END $$;

CREATE FUNCTION holdfast.discard_transcript(p_agent text, p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_content bigint;
BEGIN
  DELETE FROM holdfast.transcripts WHERE agent = p_agent AND folder = 'sessions' AND name = p_name
    RETURNING content INTO v_content;
  DELETE FROM holdfast.parts WHERE content = v_content;
  DELETE FROM holdfast.contents WHERE id = v_content;
END $$;

-- Contents that an interrupted rewrite has left without a name. Called when a node starts.
CREATE FUNCTION holdfast.tidy_contents() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_content bigint;
BEGIN
  FOR v_content IN
    SELECT id FROM holdfast.contents c
      WHERE changed_at < holdfast.now_ms() - 86400000
        AND NOT EXISTS (SELECT FROM holdfast.transcripts t WHERE t.content = c.id)
      LIMIT 100
  LOOP
    DELETE FROM holdfast.parts WHERE content = v_content;
    DELETE FROM holdfast.contents WHERE id = v_content;
  END LOOP;
END $$;

CREATE TABLE holdfast.documents (
  agent text COLLATE "C" NOT NULL,
  folder text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  version bigint NOT NULL DEFAULT nextval('holdfast.versions'),
  text text NOT NULL,
  PRIMARY KEY (agent, folder, name)
) WITH (fillfactor = 80);

-- Writes a document that is still at a version; null for a name that must be free. Returns whether it did.
CREATE FUNCTION holdfast.put_document(
  p_agent text, p_folder text, p_name text, p_version bigint, p_text text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_version IS NULL THEN
    INSERT INTO holdfast.documents (agent, folder, name, text) VALUES (p_agent, p_folder, p_name, p_text)
      ON CONFLICT DO NOTHING;
  ELSE
    UPDATE holdfast.documents SET text = p_text, version = nextval('holdfast.versions')
      WHERE agent = p_agent AND folder = p_folder AND name = p_name AND version = p_version;
  END IF;
  RETURN FOUND;
END $$;
