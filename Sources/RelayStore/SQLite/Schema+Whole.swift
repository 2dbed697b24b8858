extension Schema {
    /// The tables of a new store: what the migrations come to, in a third of their time.
    ///
    /// A test holds the two to each other.
    static let whole = """
        CREATE TABLE meta(k TEXT PRIMARY KEY, v INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE route(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE job(
            seq INTEGER PRIMARY KEY, id BLOB NOT NULL, route INTEGER NOT NULL, prio INTEGER NOT NULL,
            state INTEGER NOT NULL, reason INTEGER NOT NULL, lane INTEGER, side INTEGER, run_at INTEGER NOT NULL,
            date INTEGER, expires INTEGER, created INTEGER NOT NULL, fin INTEGER, attempts INTEGER NOT NULL,
            spent INTEGER NOT NULL, earlier INTEGER NOT NULL, crashes INTEGER NOT NULL, token INTEGER NOT NULL,
            version INTEGER NOT NULL, user INTEGER, flags INTEGER NOT NULL, kind TEXT, ending TEXT, okey TEXT, prv INTEGER,
            nxt INTEGER, skey TEXT, length INTEGER NOT NULL, sum INTEGER NOT NULL, status INTEGER, upstream TEXT,
            began INTEGER);
        CREATE INDEX job_side ON job(side) WHERE side IS NOT NULL;
        CREATE INDEX job_finished ON job(state, fin) WHERE fin IS NOT NULL;
        CREATE INDEX job_route ON job(route);
        CREATE INDEX job_lane ON job(route, lane, run_at) WHERE lane IS NOT NULL;
        CREATE INDEX job_expires ON job(expires) WHERE expires IS NOT NULL AND fin IS NULL AND state <> 2;
        CREATE TABLE payload(seq INTEGER PRIMARY KEY, record BLOB NOT NULL, body BLOB, sum INTEGER, file BLOB);
        CREATE TABLE attempt(key INTEGER PRIMARY KEY, record BLOB NOT NULL, head BLOB, body BLOB, sum INTEGER);
        CREATE TABLE label(label TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(label, seq)) WITHOUT ROWID;
        CREATE TABLE file(name TEXT PRIMARY KEY, seq INTEGER NOT NULL, length INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE keyq(
            route INTEGER NOT NULL, okey TEXT NOT NULL, tail INTEGER NOT NULL, PRIMARY KEY(route, okey)
        ) WITHOUT ROWID;
        CREATE TABLE idem(run INTEGER NOT NULL, h BLOB NOT NULL, v BLOB NOT NULL, PRIMARY KEY(run, h)) WITHOUT ROWID;
        CREATE TABLE idemrun(run INTEGER PRIMARY KEY, until INTEGER NOT NULL, filter BLOB NOT NULL);
        CREATE TABLE idemnew(n INTEGER PRIMARY KEY, v BLOB NOT NULL);
        CREATE TABLE pause(route INTEGER PRIMARY KEY, record BLOB NOT NULL);
        CREATE TABLE run(number INTEGER PRIMARY KEY, record BLOB NOT NULL);
        CREATE TABLE owed(seq INTEGER PRIMARY KEY);
        CREATE TABLE tally(
            route INTEGER NOT NULL, state INTEGER NOT NULL, minute INTEGER NOT NULL, n INTEGER NOT NULL,
            PRIMARY KEY(route, state, minute)
        ) WITHOUT ROWID;
        CREATE TABLE action(seq INTEGER PRIMARY KEY, record BLOB NOT NULL);
        CREATE TABLE mark(
            list INTEGER NOT NULL, route INTEGER NOT NULL, word TEXT NOT NULL, at INTEGER NOT NULL,
            seq INTEGER NOT NULL, PRIMARY KEY(list, route, word, at, seq)
        ) WITHOUT ROWID;

        """ + plainTables
}
