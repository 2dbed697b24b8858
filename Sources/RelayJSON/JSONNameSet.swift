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

    private var names: [Name] = []
    /// Sets of those open objects that have many names, outermost first.
    private var sets: [Set<[UInt8]>] = []

    /// Where the names of an object that opens now will begin.
    var mark: Mark { Mark(name: names.count, set: sets.count) }

    /// Forgets an object that closes.
    mutating func removeAll(since mark: Mark) {
        names.removeLast(names.count - mark.name)
        if sets.count > mark.set { sets.removeLast() }
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
        for index in mark.name..<names.count {
            let other = names[index]
            let isSame =
                if isEscaped || other.isEscaped {
                    JSONString.bytes(range, isEscaped: isEscaped, in: text)
                        == JSONString.bytes(other.range, isEscaped: other.isEscaped, in: text)
                } else {
                    haveSameBytes(range, other.range, in: text)
                }
            if isSame { return false }
        }
        names.append(Name(range: range, isEscaped: isEscaped))
        if names.count - mark.name > Self.linearLimit {
            var set: Set<[UInt8]> = []
            for name in names[mark.name...] {
                set.insert(JSONString.bytes(name.range, isEscaped: name.isEscaped, in: text))
            }
            sets.append(set)
        }
        return true
    }

    private func haveSameBytes(_ one: Range<Int>, _ other: Range<Int>, in text: Span<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        for index in 0..<one.count where text[one.lowerBound + index] != text[other.lowerBound + index] {
            return false
        }
        return true
    }
}
