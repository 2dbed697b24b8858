package import RelayBase

/// Counts the events of an answer's content as it comes, by the terms of its media type.
package struct ContentScanner: Sendable {
    package enum Kind: Sendable {
        /// `text/event-stream` (WHATWG HTML §9.2).
        case events
        /// JSON texts, one to a line.
        case lines
        /// Anything else: each piece of it counts.
        case pieces

        /// By the fields of an answer; content in a coding cannot be looked into.
        package init(_ fields: HeaderFields) {
            self = .pieces
            guard let value = fields[.contentType], !fields.contains(.contentEncoding) else { return }
            switch value.prefix(while: { $0 != ";" && $0 != " " && $0 != "\t" }).lowercased() {
            case MediaType.eventStream: self = .events
            case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq":
                self = .lines
            default: break
            }
        }
    }

    package let kind: Kind
    /// The events that are complete.
    package private(set) var events = 0
    /// Bytes of the mark that have come; 3 as soon as no more can.
    private var marked = 0
    private var isLineOpen = false
    private var isAfterReturn = false
    /// How much of `data` the line begins with: 5 with the colon behind it, `other` where it is another field.
    private var field = 0
    /// Whether the event that has begun has data.
    private var hasData = false
    /// Whether it may have an `id` or a `retry`.
    private var isBinding = false

    private static let data = Array("data".utf8)
    /// The byte order mark, which counts for nothing where content begins with it.
    package static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let other = 6

    package init(_ kind: Kind) { self.kind = kind }

    package mutating func take(_ bytes: Span<UInt8>) {
        switch kind {
        case .events: for index in bytes.indices { take(bytes[index]) }
        case .lines: for index in bytes.indices { takeOfLine(bytes[index]) }
        case .pieces: if !bytes.isEmpty { events += 1 }
        }
    }

    /// The bytes that have to stand before an event of the relay's own, so that it is one; nil where none may follow.
    ///
    /// Of an event that was cut off it takes the place: nobody gets a part for the whole. Where the part has an `id` or a
    /// `retry`, that would still count.
    package var endOfPart: [UInt8]? {
        guard kind == .events, !isBinding else { return nil }
        return isLineOpen || (1...2).contains(marked) ? [UInt8(ascii: "\n")] : []
    }

    private mutating func take(_ byte: UInt8) {
        if marked < 3 {
            if byte == ContentScanner.mark[marked] {
                marked += 1
                return
            }
            // A part of one is the beginning of a line that means nothing.
            if marked > 0 { (isLineOpen, field) = (true, ContentScanner.other) }
            marked = 3
        }
        guard byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") else { return endLine(byte) }
        if !isLineOpen {
            isLineOpen = true
            if byte == UInt8(ascii: "i") || byte == UInt8(ascii: "r") { isBinding = true }
        }
        isAfterReturn = false
        switch field {
        case 0..<4: field = byte == ContentScanner.data[field] ? field + 1 : ContentScanner.other
        case 4: field = byte == UInt8(ascii: ":") ? 5 : ContentScanner.other
        default: break
        }
    }

    private mutating func endLine(_ byte: UInt8) {
        // CRLF is one end.
        let isSecond = isAfterReturn && byte == UInt8(ascii: "\n")
        isAfterReturn = byte == UInt8(ascii: "\r")
        if isSecond { return }
        if isLineOpen {
            if field == 4 || field == 5 { hasData = true }
            (isLineOpen, field) = (false, 0)
        } else {
            if hasData { events += 1 }
            (hasData, isBinding) = (false, false)
        }
    }

    private mutating func takeOfLine(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            if isLineOpen { events += 1 }
            isLineOpen = false
        } else if byte > UInt8(ascii: " ") {
            isLineOpen = true
        }
    }
}
