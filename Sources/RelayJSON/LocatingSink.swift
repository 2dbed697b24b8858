/// Follows several pointers through one scan.
///
/// Names are unique in their object, so that a pointer that has left a container it had entered is done.
struct LocatingSink: JSONSink {
    private struct Search {
        let steps: [JSONPointer.Step]
        /// Steps that the open containers have matched; the next is looked for in container `matched + 1`.
        var matched = 0
        /// Whether the value that comes next is the one the step `matched` leads to.
        var isNext: Bool
        var isDone = false
        /// Where the container that is wanted begins, and its depth.
        var start = 0
        var captureDepth = 0
    }

    private var searches: [Search]
    private(set) var found: [Range<Int>?]
    private var depth = 0
    /// Per open container, down to `deepest`, the index of the element to come, or -1 in an object.
    private var indices: [Int] = []
    /// The deepest container any search has looked into; what lies below one that deep only has to be passed.
    private var deepest = 0

    init(_ pointers: [JSONPointer]) {
        searches = pointers.map { Search(steps: $0.steps, isNext: true) }
        found = Array(repeating: nil, count: pointers.count)
    }

    mutating func name(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        guard depth <= deepest else { return }
        for index in searches.indices where !searches[index].isDone && searches[index].matched == depth - 1 {
            let search = searches[index]
            searches[index].isNext =
                search.captureDepth == 0
                && isName(range, isEscaped, search.steps[depth - 1].name, in: text)
        }
    }

    mutating func beginObject(at offset: Int) { enter(at: offset, isArray: false) }
    mutating func beginArray(at offset: Int) { enter(at: offset, isArray: true) }

    mutating func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        scalar(range.lowerBound - 1..<range.upperBound + 1)
    }

    mutating func number(_ range: Range<Int>, in text: Span<UInt8>) { scalar(range) }
    mutating func literal(_ literal: JSONLiteral, _ range: Range<Int>) { scalar(range) }

    mutating func endContainer(at end: Int) {
        if depth <= deepest {
            for index in searches.indices where !searches[index].isDone {
                if searches[index].captureDepth == depth {
                    found[index] = searches[index].start..<end
                    searches[index].isDone = true
                } else if searches[index].captureDepth == 0, searches[index].matched == depth - 1 {
                    searches[index].isDone = true
                }
            }
        }
        depth -= 1
    }

    /// Marks the searches whose step is the index of the element that comes now.
    private mutating func beginElement() {
        guard depth > 0, indices[depth - 1] >= 0 else { return }
        let element = indices[depth - 1]
        indices[depth - 1] = element + 1
        for index in searches.indices where !searches[index].isDone && searches[index].matched == depth - 1 {
            let search = searches[index]
            searches[index].isNext = search.captureDepth == 0 && search.steps[depth - 1].index == element
        }
    }

    private mutating func enter(at offset: Int, isArray: Bool) {
        if depth <= deepest {
            beginElement()
            for index in searches.indices where searches[index].isNext {
                searches[index].isNext = false
                if searches[index].steps.count == depth {
                    searches[index].start = offset
                    searches[index].captureDepth = depth + 1
                } else {
                    searches[index].matched = depth
                }
                deepest = depth + 1
            }
        }
        depth += 1
        guard depth <= deepest else { return }
        if indices.count < depth { indices.append(-1) }
        indices[depth - 1] = isArray ? 0 : -1
    }

    private mutating func scalar(_ range: Range<Int>) {
        guard depth <= deepest else { return }
        beginElement()
        for index in searches.indices where searches[index].isNext {
            searches[index].isNext = false
            searches[index].isDone = true
            if searches[index].steps.count == depth { found[index] = range }
        }
    }

    private func isName(_ range: Range<Int>, _ isEscaped: Bool, _ name: [UInt8], in text: Span<UInt8>) -> Bool
    {
        if isEscaped { return JSONString.bytes(range, isEscaped: true, in: text) == name }
        guard range.count == name.count else { return false }
        for index in 0..<name.count where text[range.lowerBound + index] != name[index] { return false }
        return true
    }
}
