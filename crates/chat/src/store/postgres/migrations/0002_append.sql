-- Makes the rooms of these names that are not there. One transaction at a time does, so that keys become visible in
-- their order: whoever has seen one has seen all below. It must not hold a room's row yet.
CREATE FUNCTION make_rooms(p_ids text[], p_a bigint[], p_b bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7303000000000002);
    INSERT INTO rooms (id, a, b)
        SELECT w.id, w.a, w.b FROM unnest(p_ids, p_a, p_b) AS w (id, a, b)
        WHERE NOT EXISTS (SELECT FROM rooms r WHERE r.id = w.id)
        ON CONFLICT (id) DO NOTHING;
END $$;

-- Numbers and stores a batch: its rooms, and its messages with the place of their room among those. One statement is
-- one transaction and one round trip. Rooms' rows are locked in the order of their keys, so that two batches never wait
-- for each other; then no other batch numbers in them until this one is committed, and what it looks up is final.
CREATE FUNCTION append_messages(
    p_ids text[], p_a bigint[], p_b bigint[], p_above bigint[],
    p_room bigint[], p_sender bigint[], p_client bytea[], p_content text[], p_at bigint[],
    p_kept bigint
) RETURNS TABLE (o_key bigint, o_seq bigint, o_repeated boolean, o_oldest bigint) LANGUAGE plpgsql AS $$
DECLARE
    v_locked bigint;
BEGIN
    IF (SELECT count(*) FROM rooms WHERE id = ANY (p_ids)) < cardinality(p_ids) THEN
        PERFORM make_rooms(p_ids, p_a, p_b);
    END IF;
    SELECT count(*) INTO v_locked
        FROM (SELECT FROM rooms WHERE id = ANY (p_ids) ORDER BY key FOR UPDATE) locked;
    IF v_locked < cardinality(p_ids) THEN
        RAISE EXCEPTION 'a room was forgotten meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    FOR o_key, o_seq, o_repeated, o_oldest IN
        WITH said AS MATERIALIZED (
            SELECT m.place, r.key, greatest(r.last, w.above) AS base, m.sender, m.client,
                CASE WHEN m.client IS NULL THEN m.place
                    ELSE min(m.place) OVER (PARTITION BY r.key, m.sender, m.client) END AS first,
                CASE WHEN m.client IS NOT NULL THEN (
                    SELECT e.seq FROM messages e
                    WHERE e.room = r.key AND e.sender = m.sender AND e.client_id = m.client
                ) END AS earlier
            FROM unnest(p_room, p_sender, p_client) WITH ORDINALITY AS m (room, sender, client, place)
            JOIN unnest(p_ids, p_above) WITH ORDINALITY AS w (id, above, room) ON w.room = m.room
            JOIN rooms r ON r.id = w.id
        ), judged AS MATERIALIZED (
            SELECT s.*, s.earlier IS NULL AND s.place = s.first AS is_new FROM said s
        ), numbered AS MATERIALIZED (
            SELECT j.*, j.base + count(*) FILTER (WHERE j.is_new) OVER (PARTITION BY j.key ORDER BY j.place) AS number
            FROM judged j
        ), stored AS (
            INSERT INTO messages (room, seq, sender, client_id, content, at)
            SELECT n.key, n.number, n.sender, n.client, p_content[n.place::int], p_at[n.place::int]
            FROM numbered n WHERE n.is_new ORDER BY n.place
        ), raised AS (
            UPDATE rooms SET
                last = f.top,
                oldest = CASE WHEN f.pruned IS NOT NULL THEN f.pruned
                    WHEN rooms.oldest > rooms.last THEN f.bottom ELSE rooms.oldest END,
                is_used = rooms.is_used OR f.is_used,
                said_at = clock_timestamp()
            FROM (
                SELECT n.key, min(n.number) AS bottom, max(n.number) AS top, bool_or(n.sender <> 0) AS is_used,
                    max(n.number) FILTER (WHERE n.number > p_kept AND n.number % 256 = 0) - p_kept + 1 AS pruned
                FROM numbered n WHERE n.is_new GROUP BY n.key
            ) f WHERE rooms.key = f.key
        )
        SELECT n.key,
            CASE WHEN n.earlier IS NOT NULL THEN n.earlier WHEN n.client IS NULL THEN n.number
                ELSE min(n.number) OVER (PARTITION BY n.key, n.sender, n.client) END,
            NOT n.is_new,
            CASE WHEN n.is_new AND n.number > p_kept AND n.number % 256 = 0 THEN n.number - p_kept + 1 END
        FROM numbered n ORDER BY n.place
    LOOP
        IF o_oldest IS NOT NULL THEN
            DELETE FROM messages WHERE room = o_key AND seq < o_oldest;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

-- Deletes those of these rooms, and all that was said in them, in which no user has spoken and nobody for this long:
-- another service may use a room that is idle at one.
CREATE FUNCTION forget_rooms(p_keys bigint[], p_idle double precision) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_keys bigint[];
BEGIN
    SELECT array_agg(l.key) INTO v_keys FROM (
        SELECT key FROM rooms
        WHERE key = ANY (p_keys) AND (p_idle = 0 OR said_at <= clock_timestamp() - make_interval(secs => p_idle))
        ORDER BY key FOR UPDATE
    ) l;
    DELETE FROM messages WHERE room = ANY (v_keys);
    DELETE FROM rooms WHERE key = ANY (v_keys);
END $$;
