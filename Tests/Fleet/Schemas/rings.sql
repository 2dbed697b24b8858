-- Prototype: a row a job that never changes, and a row for each change of it with the next number, so that of a settlement
-- and a takeover one alone can be. `ready_K` leads to jobs that wait: an entry is good as long as its job has no later
-- change. Slots of jobs are emptied by TRUNCATE when their jobs are over for long enough, slots of entries when none of
-- theirs is good.
CREATE SEQUENCE job_seq;
CREATE TABLE ring(head smallint NOT NULL, ready smallint NOT NULL);
INSERT INTO ring VALUES (0, 0);
CREATE TABLE job(slot smallint NOT NULL, seq bigint NOT NULL, id uuid NOT NULL, route int NOT NULL,
    created timestamptz NOT NULL, state smallint NOT NULL, generation bigint, standing bytea NOT NULL,
    record bytea NOT NULL, PRIMARY KEY (seq, slot), UNIQUE (id, slot)) PARTITION BY LIST (slot);
CREATE TABLE change(slot smallint NOT NULL, seq bigint NOT NULL, n int NOT NULL, at timestamptz NOT NULL,
    state smallint NOT NULL, generation bigint, token bigint, standing bytea NOT NULL, PRIMARY KEY (seq, n, slot)
) PARTITION BY LIST (slot);
CREATE TABLE ready(k smallint NOT NULL, route int NOT NULL, lane smallint NOT NULL, due timestamptz NOT NULL,
    seq bigint NOT NULL, n int NOT NULL, slot smallint NOT NULL, standing bytea NOT NULL) PARTITION BY LIST (k);
DO $$
BEGIN
    FOR k IN 0..7 LOOP
        EXECUTE format('CREATE TABLE job_%1$s PARTITION OF job FOR VALUES IN (%1$s)', k);
        EXECUTE format('CREATE TABLE change_%1$s PARTITION OF change FOR VALUES IN (%1$s)', k);
        EXECUTE format('CREATE INDEX ON change_%s(generation, seq) WHERE generation IS NOT NULL', k);
        EXECUTE format('CREATE TABLE ready_%1$s PARTITION OF ready FOR VALUES IN (%1$s)', k);
        EXECUTE format('CREATE INDEX ON ready_%s(route, lane, due, seq)', k);
    END LOOP;
END $$;
CREATE TABLE deferred(due timestamptz NOT NULL, seq bigint NOT NULL, n int NOT NULL, slot smallint NOT NULL,
    standing bytea NOT NULL) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX deferred_due ON deferred(due);
