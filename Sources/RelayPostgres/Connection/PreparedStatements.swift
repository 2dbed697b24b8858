/// The statements that a connection has prepared, by their text and the types of their parameters; the most lately used.
struct PreparedStatements {
    /// One of them, on its way to the server or there.
    final class Entry {
        let name: String
        let types: [UInt32]
        var isPrepared = false
        /// Whether it is prepared earlier in the pipeline that is being written.
        var isSent = false
        /// The batch that used it last, by its number.
        fileprivate var usedBy: UInt64 = 0

        init(_ name: String, _ types: [UInt32]) {
            self.name = name
            self.types = types
        }

        /// A NULL is of every type.
        func suits(_ others: [UInt32]) -> Bool {
            types.count == others.count && zip(types, others).allSatisfy { $0 == $1 || $1 == 0 }
        }
    }

    private var entries: [String: [Entry]] = [:]
    /// How many there are.
    private(set) var count = 0
    /// Names that were given away.
    private var made = 0
    /// Names that the server holds for nothing.
    private(set) var unused: [String] = []
    private var batch: UInt64 = 0
    private let most: Int

    init(most: Int) { self.most = most }

    /// Another batch is about to be written; the one before is through.
    mutating func beginBatch() { batch += 1 }

    /// The entry by which a statement is run, for which the one that was used least lately may have to go; nil where it is to
    /// be sent without a name, since the batch itself needs all that there are.
    mutating func entry(_ text: String, _ types: [UInt32]) -> Entry? {
        if let known = entries[text]?.first(where: { $0.suits(types) }) {
            known.usedBy = batch
            return known
        }
        guard count < most || evict() else { return nil }
        made += 1
        count += 1
        let entry = Entry("s\(made)", types)
        entry.usedBy = batch
        entries[text, default: []].append(entry)
        return entry
    }

    private mutating func evict() -> Bool {
        var oldest: (text: String, entry: Entry)?
        for (text, some) in entries {
            for entry in some where entry.usedBy < oldest?.entry.usedBy ?? batch { oldest = (text, entry) }
        }
        guard let (text, entry) = oldest else { return false }
        if entry.isPrepared { unused.append(entry.name) }
        entries[text]?.removeAll { $0 === entry }
        if entries[text]?.isEmpty == true { entries[text] = nil }
        count -= 1
        return true
    }

    /// The server holds it no more.
    mutating func closed(_ name: String) { unused.removeAll { $0 == name } }

    /// A statement that the server has given up, or whose plan no longer holds, is prepared anew by another name.
    mutating func forget(_ text: String, isHeld: Bool) {
        let gone = entries.removeValue(forKey: text) ?? []
        count -= gone.count
        if isHeld { unused += gone.filter(\.isPrepared).map(\.name) }
    }
}
