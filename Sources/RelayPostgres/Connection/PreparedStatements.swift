/// The statements that a connection has prepared, by their text and the types of their parameters; a bounded number.
struct PreparedStatements {
    /// One of them, on its way to the server or there.
    final class Entry {
        let name: String
        let types: [UInt32]
        var isPrepared = false
        /// Whether it is prepared earlier in the pipeline that is being written.
        var isSent = false

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
    /// Names that were given away, those of forgotten statements among them.
    private(set) var made = 0
    private let most: Int

    init(most: Int) { self.most = most }

    /// The entry by which a statement is run; nil where it is to be sent without a name.
    mutating func entry(_ text: String, _ types: [UInt32]) -> Entry? {
        if let known = entries[text]?.first(where: { $0.suits(types) }) { return known }
        guard made < most else { return nil }
        made += 1
        let entry = Entry("s\(made)", types)
        entries[text, default: []].append(entry)
        return entry
    }

    /// A statement that the server has given up, or whose plan no longer holds, is prepared anew by another name.
    mutating func forget(_ text: String) { entries[text] = nil }
}
