import RelayCore

extension JobAttemptRecord {
    private static let layout: UInt64 = 1

    /// `key` is the record's place; its number is the low part of that.
    func sealed(at key: Int64) -> [UInt8] {
        var writer = RecordWriter()
        writer.add(Self.layout)
        writer.add(upstream)
        writer.add(address)
        writer.add(beganAt)
        writer.add(duration)
        writer.add(nameLookup)
        writer.add(connect)
        writer.add(firstByte)
        writer.add(sent.rawValue)
        writer.add(UInt64(status?.rawValue ?? 0))
        writer.add(failureKind?.rawValue)
        writer.add(detail)
        writer.add(rule)
        writer.add(decision)
        writer.add(wait)
        writer.add(isSpent)
        writer.add(UInt64(heldBack.count))
        for held in heldBack {
            writer.add(held.rule)
            writer.add(held.reason)
        }
        // Behind the rest, so that records from before it are read as they are.
        if wasResent { writer.add(true) }
        return writer.sealed(at: key)
    }

    init(sealed bytes: [UInt8], at key: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: key)
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let upstream = try reader.text()
        let address = try reader.optionalText()
        let began = try reader.signed()
        let durations = [
            try reader.optionalDuration(), try reader.optionalDuration(), try reader.optionalDuration(),
            try reader.optionalDuration(),
        ]
        guard let sent = Sent(rawValue: try reader.text()) else { throw RecordReader.Damage() }
        self.init(upstream: upstream, beganAt: began, duration: durations[0] ?? .zero, sent: sent)
        number = Int(key & AttemptKey.numbers)
        self.address = address
        nameLookup = durations[1] ?? .zero
        connect = durations[2] ?? .zero
        firstByte = durations[3]
        let code = try reader.number()
        status = code == 0 ? nil : Status(rawValue: UInt16(truncatingIfNeeded: code))
        failureKind = try reader.optionalText().map(FailureKind.init(rawValue:))
        detail = try reader.optionalText()
        rule = try reader.optionalText()
        decision = try reader.optionalText()
        wait = try reader.optionalDuration()
        isSpent = try reader.flag()
        for _ in 0..<(try reader.count()) {
            heldBack.append(HeldRule(rule: try reader.text(), reason: try reader.text()))
        }
        if !reader.isAtEnd { wasResent = try reader.flag() }
    }
}

/// The key of an attempt's row: the job's position above, the attempt's number below.
enum AttemptKey {
    static let numbers: Int64 = 0xFFFF

    /// A job keeps its first 65,535 attempts; later ones take the place of the last.
    static func make(_ position: Int64, _ number: Int) -> Int64 {
        position << 16 | min(Int64(number), numbers)
    }
}

extension StoredAnswer {
    private static let layout: UInt64 = 1

    /// Everything but a body that stands beside it.
    func sealedHead(at position: Int64) -> [UInt8] {
        var writer = RecordWriter()
        writer.add(Self.layout)
        writer.add(UInt64(status.rawValue))
        writer.add(source.rawValue)
        writer.add(fields)
        if case .file(let file) = body {
            writer.add(true)
            writer.add(file)
        } else {
            writer.add(false)
        }
        return writer.sealed(at: position)
    }

    init(sealedHead bytes: [UInt8], body: [UInt8]?, at position: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: position)
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let status = Status(rawValue: UInt16(truncatingIfNeeded: try reader.number()))
        guard let source = AnswerSource(rawValue: try reader.text()) else { throw RecordReader.Damage() }
        let fields = try reader.fields()
        let file = try reader.flag() ? try reader.bodyFile() : nil
        self.init(
            status: status,
            fields: fields,
            body: file.map { .file($0) } ?? body.map { .bytes($0) } ?? .expunged,
            source: source
        )
    }
}
