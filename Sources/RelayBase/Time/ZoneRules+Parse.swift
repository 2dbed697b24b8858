// A file of the tz database (RFC 9636), which nothing is trusted of.
extension ZoneRules {
    /// The largest file that is read, in bytes; the largest of the database has a twentieth of that.
    package static let sizeLimit = 65_536

    /// Reads a file of version 2 or later.
    ///
    /// - Throws: what is wrong with it.
    package init(parsing bytes: [UInt8]) throws(Refusal) {
        guard bytes.count <= Self.sizeLimit else { throw Refusal("the file is too large") }
        var reader = ByteReader(bytes: bytes)
        let old = try Header(&reader)
        try reader.skip(old.size(of: 4))
        let header = try Header(&reader)
        guard header.leaps == 0 else {
            throw Refusal(
                "it counts leap seconds, which the system's clock does not",
                hint: "name the zone without \"right/\""
            )
        }
        guard header.types > 0, header.types <= 256 else { throw Refusal("it names no offset") }
        var moments: [Int64] = []
        for _ in 0..<header.changes {
            let moment = Int64(bitPattern: try reader.number(8))
            guard moments.last.map({ $0 < moment }) ?? true else {
                throw Refusal("its changes have no order")
            }
            moments.append(moment)
        }
        var kinds: [Int] = []
        for _ in 0..<header.changes {
            let kind = Int(try reader.number(1))
            guard kind < header.types else { throw Refusal("a change names an offset that is not there") }
            kinds.append(kind)
        }
        var offsets: [Int] = []
        for _ in 0..<header.types {
            let offset = Int(Int32(bitPattern: UInt32(try reader.number(4))))
            guard abs(offset) <= Self.longestOffset else { throw Refusal("an offset is longer than a day") }
            offsets.append(offset)
            try reader.skip(2)
        }
        try reader.skip(header.names + header.leaps * 12 + header.standards + header.universals)
        first = offsets[0]
        // Nothing before year 1 can be shown, nor is it asked for.
        changes = zip(moments, kinds).map { Change(at: max($0, -62_135_596_800), offset: offsets[$1]) }
        guard try reader.number(1) == 10 else { throw Refusal("its last line is missing") }
        let line = bytes[reader.position...].prefix { $0 != 10 }
        guard reader.position + line.count < bytes.count, line.count <= 128 else {
            throw Refusal("its last line has no end")
        }
        if !line.isEmpty {
            guard let rule = YearRule(parsing: Array(line)) else {
                throw Refusal("its last line is malformed")
            }
            self.rule = rule
        }
    }

    fileprivate static let longestOffset = 93_600

    private struct Header {
        let universals: Int
        let standards: Int
        let leaps: Int
        let changes: Int
        let types: Int
        let names: Int

        init(_ reader: inout ByteReader) throws(Refusal) {
            guard try reader.number(4) == 0x545A_6966 else { throw Refusal("it does not begin with TZif") }
            guard try reader.number(1) >= 0x32 else {
                throw Refusal("it is of version 1, without 64-bit times")
            }
            try reader.skip(15)
            var counts: [Int] = []
            for _ in 0..<6 {
                let count = Int(try reader.number(4))
                guard count <= ZoneRules.sizeLimit else { throw Refusal("it counts more than it can hold") }
                counts.append(count)
            }
            (universals, standards, leaps) = (counts[0], counts[1], counts[2])
            (changes, types, names) = (counts[3], counts[4], counts[5])
        }

        /// Of its data, with moments of so many bytes.
        func size(of moment: Int) -> Int {
            changes * (moment + 1) + types * 6 + names + leaps * (moment + 4) + standards + universals
        }
    }

    private struct ByteReader {
        let bytes: [UInt8]
        private(set) var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// Of so many bytes, the most significant first.
        mutating func number(_ count: Int) throws(Refusal) -> UInt64 {
            guard count <= bytes.count - position else { throw Refusal("it ends too soon") }
            defer { position += count }
            return bytes[position..<position + count].reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func skip(_ count: Int) throws(Refusal) {
            guard count <= bytes.count - position else { throw Refusal("it ends too soon") }
            position += count
        }
    }
}

// The last line of such a file (POSIX.1 TZ, with the hours of RFC 9636): `CET-1CEST,M3.5.0,M10.5.0/3`.
extension ZoneRules.YearRule {
    /// Nil where the line is malformed.
    init?(parsing line: [UInt8]) {
        var reader = LineReader(line: line)
        guard reader.name(), let west = reader.time(), abs(west) <= ZoneRules.longestOffset else {
            return nil
        }
        standard = -west
        if reader.isAtEnd { return }
        guard reader.name() else { return nil }
        var offset = standard + 3_600
        if !reader.isNext(",") {
            guard let west = reader.time(), abs(west) <= ZoneRules.longestOffset else { return nil }
            offset = -west
        }
        guard reader.take(","), let begins = reader.day(), reader.take(","), let ends = reader.day(),
            reader.isAtEnd
        else { return nil }
        summer = Summer(offset: offset, begins: begins, ends: ends)
    }

    private struct LineReader {
        let line: [UInt8]
        private var position = 0

        init(line: [UInt8]) { self.line = line }

        var isAtEnd: Bool { position == line.count }

        func isNext(_ character: Unicode.Scalar) -> Bool {
            position < line.count && line[position] == UInt8(ascii: character)
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard isNext(character) else { return false }
            position += 1
            return true
        }

        /// Three letters or more, or anything of that kind in angle brackets.
        mutating func name() -> Bool {
            let begin = position
            if take("<") {
                while position < line.count, !isNext(">") { position += 1 }
                return position - begin > 3 && take(">")
            }
            while position < line.count, (line[position] | 0x20) &- UInt8(ascii: "a") < 26 { position += 1 }
            return position - begin >= 3
        }

        mutating func number(_ range: ClosedRange<Int>) -> Int? {
            var (value, digits) = (0, 0)
            while position < line.count, digits < 4, line[position] &- UInt8(ascii: "0") < 10 {
                value = value * 10 + Int(line[position] - UInt8(ascii: "0"))
                (position, digits) = (position + 1, digits + 1)
            }
            return digits > 0 && range.contains(value) ? value : nil
        }

        /// `-3:30`, in seconds.
        mutating func time() -> Int? {
            let isNegative = take("-")
            if !isNegative { _ = take("+") }
            guard var seconds = number(0...167).map({ $0 * 3_600 }) else { return nil }
            for unit in [60, 1] {
                guard take(":") else { break }
                guard let count = number(0...59) else { return nil }
                seconds += count * unit
            }
            return isNegative ? -seconds : seconds
        }

        mutating func day() -> ZoneRules.YearDay? {
            let day: ZoneRules.YearDay.Day
            if take("M") {
                guard let month = number(1...12), take("."), let week = number(1...5), take("."),
                    let weekday = number(0...6)
                else { return nil }
                day = .week(month: month, week: week, weekday: weekday)
            } else if take("J") {
                guard let number = number(1...365) else { return nil }
                day = .withoutLeapDay(number)
            } else {
                guard let number = number(0...365) else { return nil }
                day = .afterFirst(number)
            }
            guard take("/") else { return ZoneRules.YearDay(day: day, time: 7_200) }
            guard let time = time() else { return nil }
            return ZoneRules.YearDay(day: day, time: time)
        }
    }
}
