package import RelayBase

extension HeaderFields {
    /// The fields without those meant for one connection only (RFC 9110 §7.6.1).
    ///
    /// Gone are Connection and all it lists, Keep-Alive, Proxy-Connection, Proxy-Authenticate,
    /// Proxy-Authorization, TE, Trailer, Transfer-Encoding and Upgrade. A listed field that is end-to-end,
    /// such as Host or Content-Length, stays: the parsers refuse such a listing, and it must not work
    /// elsewhere either.
    package func removingHopByHop() -> HeaderFields {
        guard mayContain(hopByHop), entries.contains(where: isHopByHop) else { return self }
        let listed = connectionOptions()
        return keeping { entry in !isHopByHop(entry) && !listed.contains { matches(entry, $0) } }
    }

    /// Whether the field is hop-by-hop by its name alone; cheap enough to ask for each field of each message.
    package func isHopByHop(_ entry: Entry) -> Bool {
        unsafe storage.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe RelayHTTP.isHopByHop(base, Int(entry.nameStart), Int(entry.nameCount))
        }
    }

    private func connectionOptions() -> [FieldName] {
        var options: [FieldName] = []
        let bytes = storage.span
        for entry in entries where matches(entry, .connection) {
            let end = Int(entry.valueStart) + Int(entry.valueCount)
            var index = Int(entry.valueStart)
            while index < end {
                let start = index
                while index < end, isToken(bytes[index]) { index += 1 }
                if index > start, !EndToEndField.contains(bytes, start..<index),
                    let name = FieldName(bytes.text(start..<index))
                {
                    options.append(name)
                }
                // Commas and blanks; the parsers let nothing else stand here.
                if index < end { index += 1 }
            }
        }
        return options
    }
}

private let hopByHop = FieldName.Marks(
    [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
        "trailer",
        "transfer-encoding", "upgrade",
    ].compactMap { FieldName($0) }
)

/// The one table of the fields that speak of this hop alone (RFC 9110 §7.6.1), which heads of every path lose; the name is
/// a token of `count` bytes.
@inline(__always)
func isHopByHop(_ base: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Bool {
    switch count {
    case 2: unsafe stands("te", base, start)
    case 7: unsafe stands("upgrade", base, start) || stands("trailer", base, start)
    case 10: unsafe stands("connection", base, start) || stands("keep-alive", base, start)
    case 16: unsafe stands("proxy-connection", base, start)
    case 17: unsafe stands("transfer-encoding", base, start)
    case 18: unsafe stands("proxy-authenticate", base, start)
    case 19: unsafe stands("proxy-authorization", base, start)
    default: false
    }
}
