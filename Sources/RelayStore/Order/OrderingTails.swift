import RelayBase

/// The last unfinished job of each ordering key, which a new one comes behind.
///
/// A tree of random keys costs a page for every job that begins or ends one. So `keyq` is brought up to date in
/// passing, sorted and some keys at a time; what has changed since stands in memory, and a start finds it again by
/// looking at the jobs accepted since the last pass. Three things make that safe: a row of `keyq` may name a job that
/// is over, and then means nothing; a key whose last job becomes an older one is written at once; and of the unfinished
/// jobs of a key exactly one, the last, has none behind it.
struct OrderingTails {
    struct Key: Hashable, Comparable {
        var route: Int64
        var text: String

        static func < (lhs: Self, rhs: Self) -> Bool { (lhs.route, lhs.text) < (rhs.route, rhs.text) }
    }

    private struct Tail {
        /// Nil when no job of the key is unfinished.
        var seq: Int64?
        /// Whether `keyq` may have a row for the key.
        var isStored: Bool
    }

    private struct Pass {
        var keys: [Key]
        var written = 0
        /// The last job whose key it knows.
        var last: Int64
    }

    /// Keys in memory at which a pass begins.
    private let limit: Int
    /// Jobs accepted since the last pass at which another begins, whatever is in memory: a start looks at them all.
    private static let jobLimit: Int64 = 65_536
    /// Keys written in one transaction.
    private static let step = 1_024

    private var recent: [Key: Tail] = [:]
    /// The tails that the open transaction has changed, as they were before.
    private var undo: [(key: Key, tail: Tail?)] = []
    private var pass: Pass?
    /// The state that a step has changed in the open transaction, as it was before.
    private var before: (pass: Pass?, known: Int64)?
    /// Of jobs up to this one `keyq` knows.
    private var known: Int64

    init(limit: Int, known: Int64) {
        self.limit = limit
        self.known = known
    }

    /// Finds what the process before had in memory.
    mutating func load(_ database: Database) throws(StoreError) {
        let select = try database.statement(
            """
            SELECT seq, route, okey FROM job
            WHERE seq > ? AND okey IS NOT NULL AND fin IS NULL AND nxt IS NULL AND state >= 0
            """
        )
        select.bind(1, known)
        defer { select.reset() }
        while try select.step() {
            guard let text = select.text(2) else { continue }
            recent[Key(route: select.int(1), text: text)] = Tail(seq: select.int(0), isStored: true)
        }
    }

    /// The last job that was put behind the others of `key`, which may be over; and whether `keyq` may have a row.
    func tail(
        _ key: Key,
        in database: Database
    ) throws(StoreError) -> (seq: Int64?, isStored: Bool) {
        if let tail = recent[key] { return (tail.seq, tail.isStored) }
        let seq = try stored(key, in: database)
        return (seq, seq != nil)
    }

    /// A new job comes behind all others of its key.
    mutating func append(
        _ seq: Int64,
        to key: Key,
        isStored: Bool,
        in database: Database
    ) throws(StoreError) {
        // No start would look at an old job that comes back.
        guard seq > max(known, pass?.last ?? known) else { return try put(seq, for: key, in: database) }
        change(key, Tail(seq: seq, isStored: isStored))
    }

    /// The last job is an older one from now on.
    mutating func put(_ seq: Int64, for key: Key, in database: Database) throws(StoreError) {
        try store(seq, for: key, in: database)
        change(key, nil)
    }

    /// The key has no unfinished job any more.
    mutating func remove(_ key: Key) {
        let isStored = recent[key]?.isStored ?? true
        change(key, isStored ? Tail(seq: nil, isStored: true) : nil)
    }

    /// The transaction is on disk.
    mutating func commit() {
        undo.removeAll(keepingCapacity: true)
        before = nil
    }

    /// The transaction has never been.
    mutating func rollBack() {
        for (key, tail) in undo.reversed() { recent[key] = tail }
        undo.removeAll(keepingCapacity: true)
        if let before { (pass, known) = before }
        before = nil
    }

    private mutating func change(_ key: Key, _ tail: Tail?) {
        undo.append((key, recent[key]))
        recent[key] = tail
    }
}

extension OrderingTails {
    /// Whether there is a step to take, when `next` is the next job's number.
    func wantsStep(_ next: Int64) -> Bool {
        pass != nil || recent.count >= limit || next - known > Self.jobLimit
    }

    /// Brings some keys on disk.
    ///
    /// - Returns: the number to keep as `known` once all are.
    mutating func step(_ next: Int64, in database: Database) throws(StoreError) -> Int64? {
        before = (pass, known)
        var pass = pass ?? Pass(keys: recent.keys.sorted(), last: next - 1)
        let end = min(pass.keys.count, pass.written + Self.step)
        for key in pass.keys[pass.written..<end] {
            guard let tail = recent[key] else { continue }
            if let seq = tail.seq {
                try store(seq, for: key, in: database)
            } else {
                let delete = try database.statement("DELETE FROM keyq WHERE route = ? AND okey = ?")
                delete.bind(1, key.route)
                delete.bind(2, key.text)
                try delete.run()
            }
            change(key, nil)
        }
        pass.written = end
        guard end == pass.keys.count else {
            self.pass = pass
            return nil
        }
        self.pass = nil
        known = pass.last
        return known
    }

    private func stored(_ key: Key, in database: Database) throws(StoreError) -> Int64? {
        let select = try database.statement("SELECT tail FROM keyq WHERE route = ? AND okey = ?")
        select.bind(1, key.route)
        select.bind(2, key.text)
        defer { select.reset() }
        return try select.step() ? select.int(0) : nil
    }

    private func store(_ seq: Int64, for key: Key, in database: Database) throws(StoreError) {
        let insert = try database.statement("INSERT OR REPLACE INTO keyq(route, okey, tail) VALUES(?, ?, ?)")
        insert.bind(1, key.route)
        insert.bind(2, key.text)
        insert.bind(3, seq)
        try insert.run()
    }
}
