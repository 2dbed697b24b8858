import RelayBase
import RelayJobs
import RelayRecords

/// The idempotency keys whose window is open.
///
/// A tree of random keys costs a page for every key once it is larger than the cache. So new keys are appended to a
/// table in the order they come and held in memory; when there are many, they become a run: sorted, written once,
/// with a Bloom filter that spares nearly every look into it. A run goes as a whole when its last window has closed.
struct IdempotencyKeys {
    /// Keys in memory at which they become a run.
    static let runSize = 32_768
    /// Keys moved into a run in one transaction.
    private static let step = 1_024

    private let hash: KeyedHash
    private var new: [KeyedHash.Value: KeyEntry] = [:]
    private var nextNew: Int64 = 1
    /// Taken in the open transaction.
    private var added: [KeyedHash.Value] = []
    private var runs: [Run] = []
    /// Given up in the open transaction.
    private var dropped: [(index: Int, run: Run)] = []
    private var filling: Filling?
    private var nextRun: Int64 = 1

    private struct Run {
        var number: Int64
        var until: Int64
        var filter: BloomFilter

        init(number: Int64, until: Int64, filter: BloomFilter) {
            (self.number, self.until, self.filter) = (number, until, filter)
        }

        /// The run as it was kept; nil where the filter is not what was written for this run and its end.
        init?(_ number: Int64, until: Int64, sealed bytes: [UInt8]) {
            guard var reader = try? RecordReader(sealed: bytes, behind: Run.sum(number, until)),
                let filter = (try? reader.data()).flatMap(BloomFilter.init(bytes:)), reader.isAtEnd
            else { return nil }
            self.init(number: number, until: until, filter: filter)
        }

        /// The filter, with a checksum of the whole run behind it.
        var sealed: [UInt8] {
            var writer = RecordWriter(capacity: filter.bytes.count + 16)
            writer.add(filter.bytes)
            return writer.sealed(behind: Run.sum(number, until))
        }

        private static func sum(_ number: Int64, _ until: Int64) -> Checksum {
            var sum = Checksum(of: number)
            sum.add(until)
            return sum
        }
    }

    /// The run as its keys say, where its row is damaged: a filter that missed a key would let a request in twice.
    private func rebuiltRun(_ number: Int64, in database: Database) throws(StoreError) -> Run {
        let count = try database.statement("SELECT count(*) FROM idem WHERE run = ?")
        count.bind(1, number)
        let keys = try count.numbers().first ?? 0
        var run = Run(number: number, until: .min, filter: BloomFilter(capacity: Int(keys)))
        let select = try database.statement("SELECT v FROM idem WHERE run = ?")
        select.bind(1, number)
        defer { select.reset() }
        while try select.step() {
            let (key, entry) = try Self.entry(select.bytes(0), in: database)
            run.filter.insert(key)
            run.until = max(run.until, entry.until)
        }
        return run
    }

    /// A key as it was kept.
    private static func entry(
        _ bytes: [UInt8],
        in database: Database
    ) throws(StoreError) -> (key: KeyedHash.Value, entry: KeyEntry) {
        do throws(RecordReader.Damage) { return try KeyEntry.read(bytes) } catch {
            throw damaged(database)
        }
    }

    private static func damaged(_ database: Database) -> StoreError {
        StoreError(.corrupt, "cannot read an idempotency key of \(database.path): it is damaged")
    }

    /// The run being written: its keys are looked up in memory until it is whole.
    private struct Filling {
        var number: Int64
        var sorted: [KeyedHash.Value]
        var entries: [KeyedHash.Value: KeyEntry]
        var written = 0
        /// The last row of `idemnew` it takes over.
        var lastNew: Int64
    }

    init(hash: KeyedHash) { self.hash = hash }

    /// Reads what a store has kept.
    mutating func load(_ database: Database) throws(StoreError) {
        let select = try database.statement("SELECT run, until, filter FROM idemrun ORDER BY run")
        defer { select.reset() }
        while try select.step() {
            let (number, until) = (select.int(0), select.int(1))
            if let run = Run(number, until: until, sealed: select.bytes(2)) {
                runs.append(run)
            } else {
                runs.append(try rebuiltRun(number, in: database))
            }
        }
        nextRun = (runs.last?.number ?? 0) + 1
        let rows = try database.statement("SELECT n, v FROM idemnew ORDER BY n")
        defer { rows.reset() }
        while try rows.step() {
            nextNew = rows.int(0) + 1
            let (key, entry) = try Self.entry(rows.bytes(1), in: database)
            new[key] = entry
        }
    }

    /// Looks the key up and, when it is free, makes it stand for this job.
    ///
    /// Its window ends by `latest`.
    ///
    /// - Returns: nil when it was free.
    mutating func accept(
        _ idempotency: NewJob.Idempotency,
        _ record: JobRecord,
        now: Int64,
        latest: Int64,
        in database: Database
    ) throws(StoreError) -> EnqueueResult? {
        if let known = try known(idempotency, record, now: now, in: database) { return known }
        let key = hash(Self.text(idempotency, route: record.route))
        let entry = KeyEntry(
            id: record.id,
            print: hash(idempotency.fingerprint),
            until: StoreClock.advance(latest, by: idempotency.window)
        )
        let insert = try database.statement("INSERT INTO idemnew(n, v) VALUES(?, ?)")
        insert.bind(1, nextNew)
        insert.bind(2, entry.sealed(with: key))
        try insert.run()
        nextNew += 1
        new[key] = entry
        added.append(key)
        return nil
    }

    /// The job that the key stands for; nil when the key is free.
    func known(
        _ idempotency: NewJob.Idempotency,
        _ record: JobRecord,
        now: Int64,
        in database: Database
    ) throws(StoreError) -> EnqueueResult? {
        let key = hash(Self.text(idempotency, route: record.route))
        guard let known = try find(key, now: now, in: database) else { return nil }
        return known.print == hash(idempotency.fingerprint) ? .duplicate(known.id) : .conflict(known.id)
    }

    /// The transaction is on disk.
    mutating func commit() {
        added.removeAll(keepingCapacity: true)
        dropped = []
    }

    /// The transaction has never been.
    mutating func rollBack() {
        for key in added { new[key] = nil }
        nextNew -= Int64(added.count)
        added.removeAll(keepingCapacity: true)
        for (index, run) in dropped.reversed() { runs.insert(run, at: index) }
        dropped = []
    }

    /// User, route and key, so that no two triples have the same text.
    private static func text(_ idempotency: NewJob.Idempotency, route: String) -> [UInt8] {
        var writer = RecordWriter()
        writer.add(UInt64(idempotency.user))
        writer.add(route)
        writer.add(idempotency.key)
        return writer.bytes
    }

    private func find(
        _ key: KeyedHash.Value,
        now: Int64,
        in database: Database
    ) throws(StoreError) -> KeyEntry? {
        for entry in [new[key], filling?.entries[key]] {
            if let entry, entry.until > now { return entry }
        }
        // The newest first: a key whose window had closed may stand in several.
        for run in runs.reversed() where run.until > now && run.filter.mayContain(key) {
            let select = try database.statement("SELECT v FROM idem WHERE run = ? AND h = ?")
            select.bind(1, run.number)
            select.bind(2, key.bytes)
            defer { select.reset() }
            guard try select.step() else { continue }
            let (kept, entry) = try Self.entry(select.bytes(0), in: database)
            guard kept == key else { throw Self.damaged(database) }
            if entry.until > now { return entry }
        }
        return nil
    }
}

extension IdempotencyKeys {
    /// Whether there is a step to take.
    var wantsStep: Bool { filling != nil || new.count >= Self.runSize }

    /// Moves some keys into a run.
    mutating func step(in database: Database) throws(StoreError) {
        if filling == nil {
            guard new.count >= Self.runSize else { return }
            filling = Filling(number: nextRun, sorted: new.keys.sorted(), entries: new, lastNew: nextNew - 1)
            nextRun += 1
            new = [:]
            // The rows that a crash has left of a run that never became whole.
            let clean = try database.statement("DELETE FROM idem WHERE run >= ?")
            clean.bind(1, nextRun - 1)
            try clean.run()
        }
        guard var run = filling else { return }
        let insert = try database.statement("INSERT INTO idem(run, h, v) VALUES(?, ?, ?)")
        let end = min(run.sorted.count, run.written + Self.step)
        for key in run.sorted[run.written..<end] {
            guard let entry = run.entries[key] else { continue }
            insert.bind(1, run.number)
            insert.bind(2, key.bytes)
            insert.bind(3, entry.sealed(with: key))
            try insert.run()
        }
        run.written = end
        filling = run
        if end == run.sorted.count { try finish(run, in: database) }
    }

    private mutating func finish(_ run: Filling, in database: Database) throws(StoreError) {
        var filter = BloomFilter(capacity: run.sorted.count)
        var until = Int64.min
        for (key, entry) in run.entries {
            filter.insert(key)
            until = max(until, entry.until)
        }
        let whole = Run(number: run.number, until: until, filter: filter)
        let insert = try database.statement("INSERT INTO idemrun(run, until, filter) VALUES(?, ?, ?)")
        insert.bind(1, whole.number)
        insert.bind(2, whole.until)
        insert.bind(3, whole.sealed)
        try insert.run()
        let delete = try database.statement("DELETE FROM idemnew WHERE n <= ?")
        delete.bind(1, run.lastNew)
        try delete.run()
        runs.append(whole)
        filling = nil
    }

    /// When the windows of a run have all closed next.
    var nextEnd: Int64? { runs.lazy.map(\.until).min() }

    /// Removes a part of a run whose windows have all closed.
    ///
    /// - Returns: whether there is more.
    mutating func sweep(now: Int64, limit: Int, in database: Database) throws(StoreError) -> Bool {
        guard let index = runs.firstIndex(where: { $0.until <= now }) else { return false }
        let delete = try database.statement(
            "DELETE FROM idem WHERE run = ?1 AND h IN (SELECT h FROM idem WHERE run = ?1 ORDER BY h LIMIT ?2)"
        )
        delete.bind(1, runs[index].number)
        delete.bind(2, Int64(limit) * 4)
        try delete.run()
        let left = try database.statement("SELECT 1 FROM idem WHERE run = ? LIMIT 1")
        left.bind(1, runs[index].number)
        defer { left.reset() }
        if try left.step() { return true }
        let forget = try database.statement("DELETE FROM idemrun WHERE run = ?")
        forget.bind(1, runs[index].number)
        try forget.run()
        dropped.append((index, runs.remove(at: index)))
        return runs.contains { $0.until <= now }
    }
}
