/// Writes an object member by member, without a tree; the caller keeps names unique.
package struct JSONObjectWriter: Sendable {
    private var buffer: [UInt8]
    private var isEmpty = true
    /// Where in the buffer the value of `gap` belongs.
    private var gap: Int?

    package init() {
        var buffer: [UInt8] = []
        buffer.reserveCapacity(256)
        self.init(continuing: &buffer)
    }

    /// Takes the bytes of `outer` until `finish` gives them back: a copy at each nesting would take quadratic time.
    fileprivate init(continuing outer: inout [UInt8]) {
        buffer = []
        swap(&buffer, &outer)
        buffer.append(UInt8(ascii: "{"))
    }

    /// The object with the members written so far.
    package var bytes: [UInt8] { buffer + [UInt8(ascii: "}")] }

    /// The object before and behind the value that `gap` left out.
    package var parts: (head: [UInt8], tail: [UInt8]) {
        let bytes = bytes
        guard let gap else { return (bytes, []) }
        return (Array(bytes[..<gap]), Array(bytes[gap...]))
    }

    package mutating func member(_ name: String, _ value: String) {
        begin(name)
        JSONText.append(string: value, to: &buffer)
    }

    package mutating func member(_ name: String, _ value: some BinaryInteger) {
        begin(name)
        buffer.append(contentsOf: String(value).utf8)
    }

    /// Writes `null` for what is not finite.
    package mutating func member(_ name: String, _ value: Double) {
        begin(name)
        buffer.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
    }

    package mutating func member(_ name: String, _ value: Bool) {
        begin(name)
        buffer.append(contentsOf: (value ? "true" : "false").utf8)
    }

    package mutating func member(_ name: String, _ value: JSONValue) {
        begin(name)
        JSONText.append(value, to: &buffer)
    }

    /// Writes a member whose value is JSON already; the caller has checked it.
    package mutating func member(_ name: String, json: some Sequence<UInt8>) {
        begin(name)
        buffer.append(contentsOf: json)
    }

    /// Writes a member without its value, which is too large to be here as well; one of the whole document, and not
    /// inside an array.
    package mutating func gap(_ name: String) {
        begin(name)
        gap = buffer.count
    }

    package mutating func object(_ name: String, _ write: (inout JSONObjectWriter) -> Void) {
        begin(name)
        var inner = JSONObjectWriter(continuing: &buffer)
        write(&inner)
        gap = inner.gap ?? gap
        inner.finish(&buffer)
    }

    package mutating func array(_ name: String, _ write: (inout JSONArrayWriter) -> Void) {
        begin(name)
        var inner = JSONArrayWriter(continuing: &buffer)
        write(&inner)
        inner.finish(&buffer)
    }

    private mutating func begin(_ name: String) {
        if !isEmpty { buffer.append(UInt8(ascii: ",")) }
        isEmpty = false
        JSONText.append(string: name, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
    }

    fileprivate mutating func finish(_ outer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "}"))
        swap(&buffer, &outer)
    }
}

/// Writes an array element by element, without a tree.
package struct JSONArrayWriter: Sendable {
    private var buffer: [UInt8]
    private var isEmpty = true

    package init() {
        var buffer: [UInt8] = []
        self.init(continuing: &buffer)
    }

    fileprivate init(continuing outer: inout [UInt8]) {
        buffer = []
        swap(&buffer, &outer)
        buffer.append(UInt8(ascii: "["))
    }

    /// The array with the elements written so far.
    package var bytes: [UInt8] { buffer + [UInt8(ascii: "]")] }

    package mutating func element(_ value: String) {
        begin()
        JSONText.append(string: value, to: &buffer)
    }

    package mutating func element(_ value: some BinaryInteger) {
        begin()
        buffer.append(contentsOf: String(value).utf8)
    }

    package mutating func element(_ value: JSONValue) {
        begin()
        JSONText.append(value, to: &buffer)
    }

    /// Writes an element that is JSON already; the caller has checked it.
    package mutating func element(json: some Sequence<UInt8>) {
        begin()
        buffer.append(contentsOf: json)
    }

    package mutating func object(_ write: (inout JSONObjectWriter) -> Void) {
        begin()
        var inner = JSONObjectWriter(continuing: &buffer)
        write(&inner)
        inner.finish(&buffer)
    }

    package mutating func array(_ write: (inout JSONArrayWriter) -> Void) {
        begin()
        var inner = JSONArrayWriter(continuing: &buffer)
        write(&inner)
        inner.finish(&buffer)
    }

    private mutating func begin() {
        if !isEmpty { buffer.append(UInt8(ascii: ",")) }
        isEmpty = false
    }

    fileprivate mutating func finish(_ outer: inout [UInt8]) {
        buffer.append(UInt8(ascii: "]"))
        swap(&buffer, &outer)
    }
}
