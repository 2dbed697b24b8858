-- Prototype: appended rows in rings. `job_K` takes what is accepted and what is sent again, `log_K` what becomes of it,
-- one row a number, so that of a settlement and a takeover one alone can be; `done_K` takes what is over. No row is
-- updated on the way of a job, and a slot is emptied by TRUNCATE.
CREATE SEQUENCE job_seq;
CREATE TABLE ring(head smallint NOT NULL, claim smallint NOT NULL, tail smallint NOT NULL, done smallint NOT NULL);
INSERT INTO ring VALUES (0, 0, 0, 0);
DO $$
BEGIN
    FOR k IN 0..7 LOOP
        EXECUTE format('CREATE TABLE job_%s(seq bigint, attempts smallint, id uuid NOT NULL, route int NOT NULL,
            lane smallint NOT NULL, born boolean NOT NULL, due timestamptz NOT NULL, created timestamptz NOT NULL,
            node smallint, generation int, token bigint, record bytea NOT NULL,
            PRIMARY KEY (seq, attempts), UNIQUE (id, attempts))', k);
        EXECUTE format('CREATE INDEX job_%1$s_ready ON job_%1$s(route, lane, seq) WHERE NOT born', k);
        EXECUTE format('CREATE TABLE log_%s(seq bigint, n smallint, kind smallint NOT NULL, node smallint NOT NULL,
            generation int NOT NULL, token bigint NOT NULL, PRIMARY KEY (seq, n))', k);
        EXECUTE format('CREATE TABLE done_%s(seq bigint PRIMARY KEY, id uuid NOT NULL, route int NOT NULL,
            created timestamptz NOT NULL, finished timestamptz NOT NULL, attempts smallint NOT NULL,
            record bytea NOT NULL)', k);
    END LOOP;
END $$;
CREATE TABLE deferred(seq bigint PRIMARY KEY, id uuid NOT NULL, route int NOT NULL, due timestamptz NOT NULL,
    created timestamptz NOT NULL, attempts smallint NOT NULL, record bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX deferred_due ON deferred(due);
