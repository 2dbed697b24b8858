import RelayJobs

/// The name of a body in pieces.
enum FleetPiece {
    private static let digits = Array("0123456789abcdef")

    static func text(of name: [UInt8]) -> String {
        String(name.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// Nil of a body that is in no pieces.
    static func name(of body: StoredBody) -> [UInt8]? {
        guard case .file(let file) = body else { return nil }
        return name(file.name)
    }

    /// Nil of a text that names none.
    static func name(_ text: String) -> [UInt8]? {
        let values = text.compactMap { digits.firstIndex(of: $0) }
        guard values.count == 32, text.utf8.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
