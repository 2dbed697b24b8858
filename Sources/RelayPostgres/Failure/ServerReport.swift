import CPostgres

/// An error or a notice of the server, in the parts that may be told.
struct ServerReport {
    /// `ERROR`, `FATAL`, `WARNING`: never translated.
    let severity: String
    /// Nil for what the library itself says.
    let sqlState: String?
    let message: String

    @unsafe init(_ result: OpaquePointer) {
        severity = unsafe plainText(relay_pq_result_field(result, Int32(RELAY_PQ_FIELD_SEVERITY)))
        let state = unsafe plainText(relay_pq_result_field(result, Int32(RELAY_PQ_FIELD_SQLSTATE)))
        sqlState = state.isEmpty ? nil : state
        let primary = unsafe plainText(relay_pq_result_field(result, Int32(RELAY_PQ_FIELD_MESSAGE)))
        let text = unsafe primary.isEmpty ? plainText(relay_pq_result_message(result)) : primary
        message = ServerReport.told(text, state)
    }

    /// The text of a connection that failed, in which libpq was told to write the SQLSTATE before the message.
    init(ofConnection text: String) {
        severity = "FATAL"
        let bytes = Array(text.utf8)
        guard let start = ServerReport.state(bytes) else {
            sqlState = nil
            message = text
            return
        }
        let state = String(decoding: bytes[start..<start + 5], as: UTF8.self)
        sqlState = state
        message = ServerReport.told(String(decoding: bytes[(start + 7)...], as: UTF8.self), state)
    }

    /// Whether the server ends the connection, or itself, with it.
    var isFatal: Bool { severity == "FATAL" || severity == "PANIC" }

    /// Whether nothing that comes after on this connection can be right: it leads to a server that does not write, or that
    /// stops.
    var endsConnection: Bool { isFatal || isOfOtherServer || message.utf8.includes("recovery") }

    /// Whether its SQLSTATE alone says so.
    var isOfOtherServer: Bool {
        ["25006", "57P01", "57P02", "57P03"].contains { $0 == sqlState }
    }

    /// Errors of class 22 quote the value that they refuse.
    private static func told(_ text: String, _ state: String) -> String {
        state.utf8.starts(with: "22".utf8) ? "a value does not suit its type" : text
    }

    /// The place of a SQLSTATE: five characters between `:  ` and `: `.
    private static func state(_ bytes: [UInt8]) -> Int? {
        guard bytes.count > 10 else { return nil }
        return (3..<bytes.count - 6).first { start in
            bytes[start - 3..<start].elementsEqual(":  ".utf8)
                && bytes[start..<start + 5].allSatisfy { byte in
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                }
                && bytes[start + 5..<start + 7].elementsEqual(": ".utf8)
        }
    }
}

extension String.UTF8View {
    fileprivate func includes(_ other: StaticString) -> Bool {
        let sought = unsafe UnsafeBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount)
        let bytes = Array(self)
        guard bytes.count >= sought.count else { return false }
        return (0...bytes.count - sought.count).contains { start in
            unsafe bytes[start..<start + sought.count].elementsEqual(sought)
        }
    }
}
