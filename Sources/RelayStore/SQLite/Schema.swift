import RelayBase

/// The tables, and how one version of them becomes the next.
enum Schema {
    /// "WAYS" in ASCII.
    static let applicationID: Int64 = 0x5741_5953
    static var version: Int64 { Int64(migrations.count) }

    /// Step `n` makes version `n + 1`; a step that was released never changes.
    ///
    /// The additions of a new step belong into `whole` too.
    static let migrations: [String] = [
        """
        CREATE TABLE meta(k TEXT PRIMARY KEY, v INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE route(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

        -- What changes of a job. `ready` is the priority while it may be claimed; `side` is the state where that is
        -- one an operator looks for; both are null otherwise, so that their indexes hold only such jobs.
        CREATE TABLE job(
            seq INTEGER PRIMARY KEY, id BLOB NOT NULL, route INTEGER NOT NULL, prio INTEGER NOT NULL,
            state INTEGER NOT NULL, reason INTEGER NOT NULL, ready INTEGER, side INTEGER, run_at INTEGER NOT NULL,
            date INTEGER, expires INTEGER, created INTEGER NOT NULL, fin INTEGER, attempts INTEGER NOT NULL,
            spent INTEGER NOT NULL, earlier INTEGER NOT NULL, crashes INTEGER NOT NULL, token INTEGER NOT NULL,
            version INTEGER NOT NULL, user INTEGER, flags INTEGER NOT NULL, kind TEXT, ending TEXT, okey TEXT, prv INTEGER, nxt INTEGER, skey TEXT,
            length INTEGER NOT NULL, sum INTEGER NOT NULL);
        CREATE UNIQUE INDEX job_id ON job(id);
        CREATE INDEX job_ready ON job(route, ready, run_at) WHERE ready IS NOT NULL;
        CREATE INDEX job_running ON job(state) WHERE state = 2;
        CREATE INDEX job_due ON job(route, run_at) WHERE state = 0;
        CREATE INDEX job_dated ON job(seq) WHERE date IS NOT NULL AND fin IS NULL;
        CREATE INDEX job_side ON job(side) WHERE side IS NOT NULL;
        CREATE INDEX job_finished ON job(state, fin) WHERE fin IS NOT NULL;
        CREATE INDEX job_expires ON job(expires) WHERE expires IS NOT NULL AND fin IS NULL;
        CREATE INDEX job_supersede ON job(route, skey) WHERE skey IS NOT NULL AND fin IS NULL;

        -- Everything else about a job. The body stands here or in a file; in neither once it is expunged.
        CREATE TABLE payload(seq INTEGER PRIMARY KEY, record BLOB NOT NULL, body BLOB, sum INTEGER, file BLOB);
        CREATE TABLE answer(seq INTEGER PRIMARY KEY, head BLOB NOT NULL, body BLOB, sum INTEGER);
        CREATE TABLE attempt(key INTEGER PRIMARY KEY, record BLOB NOT NULL);
        CREATE TABLE label(label TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(label, seq)) WITHOUT ROWID;
        CREATE TABLE file(name TEXT PRIMARY KEY, seq INTEGER NOT NULL, length INTEGER NOT NULL) WITHOUT ROWID;

        -- The last job of each ordering key that has unfinished ones, as of the job `keyed` in meta, and some of keys
        -- that have none; `prv` and `nxt` of the jobs link the others.
        CREATE TABLE keyq(
            route INTEGER NOT NULL, okey TEXT NOT NULL, tail INTEGER NOT NULL, PRIMARY KEY(route, okey)
        ) WITHOUT ROWID;

        -- Idempotency keys: runs sorted by hash, each filled once and dropped whole, with a filter to skip most.
        CREATE TABLE idem(run INTEGER NOT NULL, h BLOB NOT NULL, v BLOB NOT NULL, PRIMARY KEY(run, h)) WITHOUT ROWID;
        CREATE TABLE idemrun(run INTEGER PRIMARY KEY, until INTEGER NOT NULL, filter BLOB NOT NULL);
        -- Those of no run yet, in the order of acceptance.
        CREATE TABLE idemnew(n INTEGER PRIMARY KEY, v BLOB NOT NULL);

        -- Routes that send nothing, each with its reason.
        CREATE TABLE pause(route INTEGER PRIMARY KEY, record BLOB NOT NULL);

        -- Jobs by route, state and minute of acceptance (zero once they are over): counts without counting.
        CREATE TABLE tally(
            route INTEGER NOT NULL, state INTEGER NOT NULL, minute INTEGER NOT NULL, n INTEGER NOT NULL,
            PRIMARY KEY(route, state, minute)
        ) WITHOUT ROWID;
        """,
        // The status of the last failed attempt.
        "ALTER TABLE job ADD COLUMN status INTEGER",
        // The attempt under way, of a job that runs: where it went, and when it began by the wall clock.
        """
        ALTER TABLE job ADD COLUMN upstream TEXT;
        ALTER TABLE job ADD COLUMN began INTEGER;
        """,
        // Lists of one route, and what fails now by kind and age.
        """
        CREATE INDEX job_route ON job(route);
        CREATE INDEX job_failed ON job(route, kind, created) WHERE fin IS NULL AND kind IS NOT NULL;
        """,
        // The actions of operators, of jobs that they did something to.
        "CREATE TABLE action(seq INTEGER PRIMARY KEY, record BLOB NOT NULL)",
        // A write opens every index that has a column it names, whether the row belongs there or not: one index takes the
        // place of those of all that waits or runs, and lists that few jobs stand in are a table. `lane` is the priority
        // of a job that may be claimed, 8 while it is scheduled and 9 while it runs. An answer stands with the attempt
        // that brought it, or at number zero.
        """
        DROP INDEX job_ready; DROP INDEX job_running; DROP INDEX job_due; DROP INDEX job_expires;
        DROP INDEX job_dated; DROP INDEX job_supersede; DROP INDEX job_failed;
        ALTER TABLE job RENAME COLUMN ready TO lane;
        UPDATE job SET lane = CASE state WHEN 0 THEN 8 ELSE 9 END WHERE state IN (0, 2);
        CREATE INDEX job_lane ON job(route, lane, run_at) WHERE lane IS NOT NULL;
        CREATE INDEX job_expires ON job(expires) WHERE expires IS NOT NULL AND fin IS NULL AND state <> 2;
        CREATE TABLE mark(
            list INTEGER NOT NULL, route INTEGER NOT NULL, word TEXT NOT NULL, at INTEGER NOT NULL,
            seq INTEGER NOT NULL, PRIMARY KEY(list, route, word, at, seq)
        ) WITHOUT ROWID;
        INSERT INTO mark SELECT 0, 0, '', 0, seq FROM job WHERE date IS NOT NULL AND fin IS NULL;
        INSERT INTO mark SELECT 1, route, skey, 0, seq FROM job WHERE skey IS NOT NULL AND fin IS NULL;
        INSERT INTO mark SELECT 2, route, kind, created, seq FROM job WHERE kind IS NOT NULL AND fin IS NULL;
        ALTER TABLE attempt ADD COLUMN head BLOB;
        ALTER TABLE attempt ADD COLUMN body BLOB;
        ALTER TABLE attempt ADD COLUMN sum INTEGER;
        INSERT INTO attempt SELECT seq << 16, x'', head, body, sum FROM answer;
        DROP TABLE answer;
        """,
        // Plain jobs, and the ids of all jobs in a table of their own; in the order of the index that they come from, so
        // that a million take a second at most.
        plainTables + "INSERT INTO id SELECT id, seq FROM job ORDER BY id; DROP INDEX job_id",
        // Lanes of users (`JobQueue`). Jobs that wait have those of nobody until they are given theirs, some at a time: a
        // million rows would keep a start for seconds.
        "INSERT INTO meta(k, v) VALUES('unturned', 1)",
        // Actions on every job that matches, each with how far it is.
        "CREATE TABLE run(number INTEGER PRIMARY KEY, record BLOB NOT NULL)",
        // Jobs that are over and of which another route is still to be told.
        "CREATE TABLE owed(seq INTEGER PRIMARY KEY)",
    ]

    /// Brings the tables to this version, in one transaction.
    static func migrate(_ database: Database) throws(StoreError) {
        let found = try database.number("PRAGMA user_version")
        let application = try database.number("PRAGMA application_id")
        let isNew = try database.number("SELECT count(*) FROM sqlite_schema") == 0
        guard application == applicationID || isNew && application == 0 else {
            throw foreign(database.path)
        }
        guard found <= version else { throw newer(found, path: database.path) }
        guard found < version else { return }
        try database.execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            for step in isNew ? [whole] : migrations[Int(found)...] { try database.execute(step) }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(version)")
            try database.execute("COMMIT")
        } catch {
            if database.isInTransaction { try? database.execute("ROLLBACK") }
            throw error
        }
    }

    static func foreign(_ path: String) -> StoreError {
        StoreError(
            .foreign,
            "cannot open the job store \(path): it is the database of another program; move it and lock away, or have "
                + "another directory (StateDirectory= of the unit, storage.directory elsewhere)"
        )
    }

    static func vacuumed(_ path: String) -> StoreError {
        StoreError(
            .foreign,
            "cannot open the job store \(path): it is in auto_vacuum mode, which the job store never uses; run: sqlite3 "
                + "\(path) 'PRAGMA auto_vacuum = NONE; VACUUM'"
        )
    }

    static func newer(_ found: Int64, path: String) -> StoreError {
        StoreError(
            .newerSchema,
            "cannot open the job store \(path): its schema is version \(found) and this program knows up to "
                + "\(version); install the newer program again, or move jobs.db* and lock away"
        )
    }
}
