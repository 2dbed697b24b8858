-- Prototype: a row a job, which a claim and a settlement update, as most queues on PostgreSQL have it.
CREATE TABLE job(
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE, route int NOT NULL,
    lane smallint NOT NULL, state smallint NOT NULL, due timestamptz NOT NULL, created timestamptz NOT NULL,
    finished timestamptz, attempts smallint NOT NULL, node smallint, generation int, token bigint,
    record bytea NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX job_ready ON job(route, lane, seq) WHERE state = 1;
CREATE INDEX job_deferred ON job(due) WHERE state = 0;
CREATE INDEX job_finished ON job(finished) WHERE state = 3;
