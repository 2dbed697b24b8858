/// The members of some objects of a text by their places, found in one pass and without a tree.
///
/// It is read again and again, in the memory of its first text.
package struct JSONOutline: Sendable {
    /// One member of an object that was asked for.
    package struct Member: Sendable {
        /// As an index of the objects that were asked for.
        package var object: Int
        /// Between the quotes.
        package var name: Range<Int>
        /// Whether the name has no escape.
        package var isNamePlain: Bool
        package var kind: Kind
        /// The value's bytes; of a string those between its quotes.
        package var value: Range<Int>
        /// Whether the value stands as `JSONValue.encoded` writes it, and a string as it reads.
        package var isPlain: Bool
    }

    package enum Kind: Sendable {
        case string, number, literal, array, object
    }

    /// Members that are noted of one text; who has more is not told of all.
    package static let most = 64

    private var sink: OutlineSink
    private var scanner: JSONScanner

    /// The document's own object comes first; each other stands in one before it.
    package init(_ objects: [[String]], limits: JSONLimits = JSONLimits()) {
        sink = OutlineSink(objects.map { $0.map { Array($0.utf8) } })
        scanner = JSONScanner(limits: limits)
    }

    /// In the order of the text.
    package var members: [Member] { sink.members }
    /// Whether all of them are noted.
    package var isWhole: Bool { !sink.isOver }

    /// Reads a text, of which the members are then known.
    package mutating func read(_ text: Span<UInt8>) throws(JSONError) {
        sink.begin()
        try scanner.scan(text, into: &sink)
    }
}

/// Notes members, and whether a value that is not looked into is written without blanks and escapes.
private struct OutlineSink: JSONSink {
    /// An object that was asked for: a member of another.
    private struct Object {
        let parent: Int
        let name: [UInt8]
    }

    private let objects: [Object]
    private(set) var members: [JSONOutline.Member] = []
    private(set) var isOver = false
    /// Objects that were asked for and are open, each in the one before.
    private var open: [Int] = []
    private var depth = 0
    private var name = 0..<0
    private var isNamePlain = true
    /// The object that was asked for and may begin now; -1 where there is none.
    private var next = -1
    /// Bytes of tokens in what is not looked into, with the commas that have to be there.
    private var written = 0
    private var isEmpty = false
    private var isEscaped = false

    init(_ paths: [[[UInt8]]]) {
        objects = paths.map { path in
            Object(
                parent: paths.firstIndex { $0 == Array(path.dropLast()) && !path.isEmpty } ?? -1,
                name: path.last ?? []
            )
        }
    }

    mutating func begin() {
        members.removeAll(keepingCapacity: true)
        open.removeAll(keepingCapacity: true)
        (depth, isOver, next) = (0, false, 0)
    }

    mutating func name(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        guard depth == open.count else {
            written += range.count + 3
            self.isEscaped = self.isEscaped || isEscaped
            return
        }
        name = range
        isNamePlain = !isEscaped
        next = -1
        guard isNamePlain else { return }
        for index in objects.indices where objects[index].parent == open[depth - 1] {
            if isSame(range, objects[index].name, in: text) { next = index }
        }
    }

    mutating func beginObject(at offset: Int) { enter(at: offset, .object) }
    mutating func beginArray(at offset: Int) { enter(at: offset, .array) }

    mutating func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        if depth == open.count {
            note(.string, range, isPlain: !isEscaped)
        } else {
            self.isEscaped = self.isEscaped || isEscaped
            count(range.count + 2)
        }
    }

    mutating func number(_ range: Range<Int>, in text: Span<UInt8>) { scalar(.number, range) }
    mutating func literal(_ literal: JSONLiteral, _ range: Range<Int>) { scalar(.literal, range) }

    mutating func endContainer(at end: Int) {
        depth -= 1
        if depth < open.count {
            open.removeLast()
        } else {
            // The bracket of what is not empty is counted behind its last value.
            written += isEmpty ? 1 : 0
            isEmpty = false
            if depth == open.count { close(at: end) }
        }
    }

    private mutating func scalar(_ kind: JSONOutline.Kind, _ range: Range<Int>) {
        if depth == open.count { note(kind, range, isPlain: true) } else { count(range.count) }
    }

    private mutating func enter(at offset: Int, _ kind: JSONOutline.Kind) {
        if depth == open.count {
            if kind == .object, next >= 0 {
                if depth > 0 { note(kind, offset..<offset, isPlain: false) }
                open.append(next)
            } else {
                note(kind, offset..<offset, isPlain: false)
                (written, isEscaped) = (1, false)
            }
        } else {
            count(1)
        }
        isEmpty = true
        depth += 1
    }

    /// A value of that many bytes, and a comma or a bracket behind it.
    private mutating func count(_ bytes: Int) {
        written += bytes + 1
        isEmpty = false
    }

    private mutating func close(at end: Int) {
        guard let last = members.indices.last, !isOver, depth > 0 else { return }
        let start = members[last].value.lowerBound
        members[last].value = start..<end
        members[last].isPlain = !isEscaped && end - start == written
    }

    private mutating func note(_ kind: JSONOutline.Kind, _ value: Range<Int>, isPlain: Bool) {
        // Of a text that is no object there are none.
        guard depth > 0, !isOver else { return }
        guard members.count < JSONOutline.most else {
            isOver = true
            return
        }
        members.append(
            JSONOutline.Member(
                object: open[depth - 1],
                name: name,
                isNamePlain: isNamePlain,
                kind: kind,
                value: value,
                isPlain: isPlain
            )
        )
    }

    private func isSame(_ range: Range<Int>, _ name: [UInt8], in text: Span<UInt8>) -> Bool {
        guard range.count == name.count else { return false }
        for index in 0..<name.count where text[range.lowerBound + index] != name[index] { return false }
        return true
    }
}
