/// The names of the objects that are open, for finding duplicates without quadratic work.
///
/// Few names are compared one by one where they stand in the text; an object with more gets a hashed set, whose
/// seed a sender does not know.
struct JSONNameSet {
    private struct Name {
        var range: Range<Int>
        var isEscaped: Bool
    }

    /// Where an object's names begin.
    struct Mark {
        fileprivate var name: Int
        fileprivate var set: Int
    }

    /// Names an object may have before they are hashed.
    private static let linearLimit = 16

    /// The first seven bytes and the length of each name, compared first; only `count` are in use.
    private var fingerprints: [UInt64] = []
    private var names: [Name] = []
    private var count = 0
    /// Sets of those open objects that have many names, outermost first.
    private var sets: [Set<[UInt8]>] = []

    /// Where the names of an object that opens now will begin.
    var mark: Mark { Mark(name: count, set: sets.count) }

    /// Forgets an object that closes.
    mutating func removeAll(since mark: Mark) {
        count = mark.name
        if sets.count > mark.set { sets.removeLast() }
    }

    /// Forgets all of them.
    mutating func removeAll() {
        count = 0
        if !sets.isEmpty { sets = [] }
    }

    /// Adds a name of the innermost object, which began at `mark`.
    ///
    /// - Returns: false when the object already has it.
    mutating func insert(_ range: Range<Int>, isEscaped: Bool, since mark: Mark, in text: Span<UInt8>) -> Bool
    {
        if sets.count > mark.set {
            return sets[sets.count - 1].insert(JSONString.bytes(range, isEscaped: isEscaped, in: text))
                .inserted
        }
        let name = Name(range: range, isEscaped: isEscaped)
        let fingerprint = fingerprint(name, in: text)
        for index in mark.name..<count where fingerprints[index] == fingerprint {
            if isSame(name, names[index], in: text) { return false }
        }
        if count < names.count {
            fingerprints[count] = fingerprint
            names[count] = name
        } else {
            fingerprints.append(fingerprint)
            names.append(name)
        }
        count += 1
        if count - mark.name > Self.linearLimit {
            var set: Set<[UInt8]> = []
            for name in names[mark.name..<count] {
                set.insert(JSONString.bytes(name.range, isEscaped: name.isEscaped, in: text))
            }
            sets.append(set)
        }
        return true
    }

    private func fingerprint(_ name: Name, in text: Span<UInt8>) -> UInt64 {
        let start = name.range.lowerBound
        if !name.isEscaped, text.count - start >= 8 {
            return Self.fingerprint(JSONString.eightBytes(at: start, in: text), length: name.range.count)
        }
        let bytes = JSONString.bytes(name.range, isEscaped: name.isEscaped, in: text)
        var word: UInt64 = 0
        for byte in bytes.prefix(7).reversed() { word = word << 8 | UInt64(byte) }
        return Self.fingerprint(word, length: bytes.count)
    }

    @inline(__always)
    private static func fingerprint(_ word: UInt64, length: Int) -> UInt64 {
        let kept = min(length, 7) * 8
        return word & ((1 << kept) - 1) | UInt64(truncatingIfNeeded: min(length, 0xFF)) << 56
    }

    private func isSame(_ one: Name, _ other: Name, in text: Span<UInt8>) -> Bool {
        JSONString.bytes(one.range, isEscaped: one.isEscaped, in: text)
            == JSONString.bytes(other.range, isEscaped: other.isEscaped, in: text)
    }
}
