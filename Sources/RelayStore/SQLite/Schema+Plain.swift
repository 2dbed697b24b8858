/// The tables of plain jobs, and that of every job's id.
///
/// A job of `plain` has that row from its acceptance, a second one in `ended` from its success, and a place in one of
/// `claimed` while it runs; none of them is written twice. Its lane is its priority, 8 where it is scheduled, 9 where it
/// was born running, and -1 once it was found damaged. `zone` leads to them, each of its rows to the plain jobs of a route
/// among 1,024 positions: how many of them are queued or run, when the first of those is due that are scheduled, and a
/// time, on the line, before which none was over.
extension Schema {
    static let plainTables = """
        CREATE TABLE id(id BLOB PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE plain(
            seq INTEGER PRIMARY KEY, route INTEGER NOT NULL, lane INTEGER NOT NULL, run_at INTEGER NOT NULL,
            expires INTEGER, created INTEGER NOT NULL, user INTEGER, record BLOB NOT NULL);
        CREATE TABLE ended(
            seq INTEGER PRIMARY KEY, route INTEGER NOT NULL, fin INTEGER NOT NULL, record BLOB NOT NULL);
        CREATE TABLE claimed(
            n INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL, sum INTEGER NOT NULL,
            record BLOB NOT NULL);
        CREATE TABLE zone(
            route INTEGER NOT NULL, block INTEGER NOT NULL, open INTEGER NOT NULL, due INTEGER, fin INTEGER,
            PRIMARY KEY(route, block)
        ) WITHOUT ROWID;
        CREATE INDEX zone_open ON zone(block) WHERE open > 0;
        CREATE INDEX zone_due ON zone(route, due) WHERE due IS NOT NULL;
        CREATE INDEX zone_fin ON zone(fin) WHERE fin IS NOT NULL;
        """
}
