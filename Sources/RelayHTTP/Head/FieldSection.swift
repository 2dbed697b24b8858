import RelayBase

/// Reads the field lines of a head, and notes what they say about framing and the connection.
///
/// A line is read once it is complete; positions survive from call to call, so a head that arrives byte by
/// byte costs no more than one that arrives at once.
struct FieldSection {
    private(set) var entries: [HeaderFields.Entry] = []
    private(set) var facts = FieldFacts()
    /// Where the first field line starts; offsets in `entries` count from here.
    private(set) var start = 0
    /// The next line to read.
    private(set) var position = 0

    private let limits: HTTPLimits

    init(limits: HTTPLimits) { self.limits = limits }

    mutating func begin(at position: Int) {
        start = position
        self.position = position
        // Most heads have fewer fields; the array lives as long as the head.
        entries.reserveCapacity(12)
    }

    /// Reads as many lines as are complete.
    ///
    /// - Returns: whether the empty line was read; `position` is then behind it.
    mutating func parse(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Bool {
        let end = bytes.count
        while position < end {
            if bytes[position] == carriageReturn {
                guard position + 1 < end else { return false }
                guard bytes[position + 1] == lineFeed else { throw fault(.bareCarriageReturn) }
                position += 2
                return true
            }
            guard entries.count < limits.fieldCount else { throw fault(.tooManyFields) }
            guard try parseLine(bytes) else { return false }
        }
        return false
    }

    /// The fields found, owning a copy of their bytes; the section is then empty.
    mutating func take(_ bytes: Span<UInt8>) -> HeaderFields {
        let fields = HeaderFields(storage: bytes.copy(start..<position), entries: entries)
        entries = []
        return fields
    }

    private mutating func parseLine(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Bool {
        let end = bytes.count
        let nameStart = position
        var index = bytes.firstNonToken(from: nameStart)
        guard index < end else { return false }
        let nameCount = index &- nameStart
        guard bytes[index] == colon, nameCount > 0 else { throw nameFault(bytes, at: index, nameCount) }
        guard nameCount <= limits.boundedFieldName else { throw fault(.fieldNameTooLong) }
        index &+= 1
        while index < end, isBlank(bytes[index]) { index &+= 1 }
        let valueStart = index
        while true {
            index = bytes.firstControl(from: index)
            guard index < end else { return false }
            if bytes[index] == carriageReturn { break }
            guard bytes[index] == horizontalTab else {
                throw fault(bytes[index] == lineFeed ? .bareLineFeed : .badFieldValue)
            }
            index &+= 1
        }
        guard index + 1 < end else { return false }
        guard bytes[index + 1] == lineFeed else { throw fault(.bareCarriageReturn) }
        var valueEnd = index
        while valueEnd > valueStart, isBlank(bytes[valueEnd &- 1]) { valueEnd &-= 1 }
        if let code = facts.note(
            bytes,
            name: nameStart,
            nameCount,
            value: valueStart..<valueEnd,
            entries.count
        ) {
            throw fault(code)
        }
        entries.append(
            HeaderFields.Entry(
                nameStart: nameStart &- start,
                nameCount: nameCount,
                valueStart: valueStart &- start,
                valueCount: valueEnd &- valueStart
            )
        )
        position = index + 2
        return true
    }

    private func nameFault(_ bytes: Span<UInt8>, at index: Int, _ nameCount: Int) -> HTTPParseError {
        switch bytes[index] {
        case lineFeed where nameCount == 0: fault(.bareLineFeed)
        case space, horizontalTab:
            // RFC 9112 §5.2: white space at the start of a line folds it onto the one before.
            nameCount == 0 ? fault(.foldedField) : fault(blankFault(bytes, from: index))
        case carriageReturn, lineFeed: fault(.missingColon)
        default: fault(.badFieldName)
        }
    }

    private func blankFault(_ bytes: Span<UInt8>, from index: Int) -> HTTPParseError.Code {
        var index = index
        while index < bytes.count, isBlank(bytes[index]) { index += 1 }
        return index < bytes.count && bytes[index] == colon ? .spaceBeforeColon : .badFieldName
    }

    private func fault(_ code: HTTPParseError.Code) -> HTTPParseError {
        // The start line is line 1.
        HTTPParseError(code, line: entries.count + 2)
    }
}
