package import RelayBase
package import RelayJobs

extension RecordWriter {
    package mutating func add(_ fields: HeaderFields) {
        add(UInt64(fields.entries.count))
        // Fields that were removed may still stand in their storage, and must not get to the disk.
        var length: UInt64 = 0
        for entry in fields.entries {
            add(length)
            add(UInt64(entry.nameCount))
            length += UInt64(entry.nameCount)
            add(length)
            add(UInt64(entry.valueCount))
            length += UInt64(entry.valueCount)
        }
        add(length)
        let storage = fields.storage.span
        for entry in fields.entries {
            let (name, value) = (Int(entry.nameStart), Int(entry.valueStart))
            put(storage.extracting(name..<name + Int(entry.nameCount)))
            put(storage.extracting(value..<value + Int(entry.valueCount)))
        }
    }

    package mutating func add(_ file: StoredBodyFile) {
        add(file.name)
        add(file.length)
        add(UInt64(file.checksums.count))
        for sum in file.checksums { add(UInt64(sum)) }
    }
}

extension RecordReader {
    package mutating func fields() throws(Damage) -> HeaderFields {
        var entries: [HeaderFields.Entry] = []
        let count = try count()
        entries.reserveCapacity(count)
        var longest: UInt64 = 0
        for _ in 0..<count {
            let (name, nameCount, value, valueCount) = (
                try number(), try number(), try number(), try number()
            )
            guard name <= UInt32.max, nameCount <= UInt16.max, value <= UInt32.max, valueCount <= UInt32.max
            else {
                throw Damage()
            }
            longest = max(longest, name + nameCount, value + valueCount)
            entries.append(
                HeaderFields.Entry(
                    nameStart: Int(name),
                    nameCount: Int(nameCount),
                    valueStart: Int(value),
                    valueCount: Int(valueCount)
                )
            )
        }
        let storage = try data()
        guard longest <= UInt64(storage.count) else { throw Damage() }
        return HeaderFields(storage: storage, entries: entries)
    }

    package mutating func bodyFile() throws(Damage) -> StoredBodyFile {
        let name = try text()
        let length = try number()
        var sums: [UInt32] = []
        for _ in 0..<(try count()) { sums.append(UInt32(truncatingIfNeeded: try number())) }
        return StoredBodyFile(name: name, length: length, checksums: sums)
    }
}

extension JobRecord {
    /// The first byte names the layout, so that a later one can be told apart.
    private static let layout: UInt64 = 1

    package func sealed(at position: Int64) -> [UInt8] {
        var writer = RecordWriter()
        add(to: &writer)
        return writer.sealed(at: position)
    }

    package func add(to writer: inout RecordWriter) {
        writer.add(Self.layout)
        writer.add(id.high)
        writer.add(id.low)
        writer.add(route)
        writer.add(method.rawValue)
        writer.add(target)
        writer.add(fields)
        writer.add(UInt64(priority))
        writer.add(orderingKey)
        writer.add(supersedeKey)
        writer.add(idempotencyKey)
        writer.add(UInt64(labels.count))
        for label in labels { writer.add(label) }
        writer.add(submitter != nil)
        if let submitter {
            writer.add(UInt64(submitter.user))
            writer.add(submitter.unit)
        }
        writer.add(mayRepeat)
        writer.add(trace.parent)
        writer.add(trace.state)
        writer.add(trace.baggage)
        writer.add(bounds.timeout)
        writer.add(bounds.attemptTimeout)
        // One number, so that records of before it was there are read as they are.
        let words: UInt64 =
            UInt64(bounds.constrained.rawValue) | (asksFirst ? 256 : 0) | (notifies ? 512 : 0)
            | (isNotice ? 1_024 : 0)
        writer.add(UInt64(max(0, bounds.maxAttempts ?? 0)) | words << 32)
        writer.add(bounds.allowsFallback)
    }

    package init(sealed bytes: [UInt8], at position: Int64) throws(RecordReader.Damage) {
        var reader = try RecordReader(sealed: bytes, at: position)
        try self.init(from: &reader)
    }

    package init(from reader: inout RecordReader) throws(RecordReader.Damage) {
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        self.init(
            id: JobID(high: try reader.number(), low: try reader.number()),
            route: try reader.text(),
            method: Method(rawValue: try reader.text()),
            target: try reader.text(),
            fields: try reader.fields()
        )
        priority = UInt8(truncatingIfNeeded: try reader.number())
        orderingKey = try reader.optionalText()
        supersedeKey = try reader.optionalText()
        idempotencyKey = try reader.optionalText()
        for _ in 0..<(try reader.count()) { labels.append(try reader.text()) }
        if try reader.flag() {
            submitter = Submitter(
                user: UInt32(truncatingIfNeeded: try reader.number()),
                unit: try reader.optionalText()
            )
        }
        mayRepeat = try reader.flag()
        trace.parent = try reader.optionalText()
        trace.state = try reader.optionalText()
        trace.baggage = try reader.optionalText()
        bounds.timeout = try reader.optionalDuration()
        bounds.attemptTimeout = try reader.optionalDuration()
        let number = try reader.number()
        let attempts = number & 0xFFFF_FFFF
        bounds.maxAttempts = attempts == 0 ? nil : Int(clamping: attempts)
        bounds.constrained = ConstrainedUse(rawValue: UInt8(truncatingIfNeeded: number >> 32)) ?? .send
        asksFirst = number >> 40 & 1 == 1
        notifies = number >> 41 & 1 == 1
        isNotice = number >> 42 & 1 == 1
        bounds.allowsFallback = try reader.flag()
    }
}
