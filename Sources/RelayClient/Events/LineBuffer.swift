/// Cuts what arrives into lines.
package struct LineBuffer: Sendable {
    private var remainder: [UInt8] = []
    /// Bytes a line may have.
    private let limit: Int

    /// Lines of up to 1 MiB unless another limit is given.
    package init(limit: Int = 1 << 20) { self.limit = limit }

    /// Takes up a piece.
    ///
    /// - Parameter piece: what arrived.
    /// - Returns: the lines that are complete now, without their ends; empty ones are left out.
    /// - Throws: `invalidResponse` for a line beyond the limit.
    package mutating func take(_ piece: [UInt8]) throws(RelayClientError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: 0x0A) {
            let line = remainder + piece[start..<end]
            remainder = []
            start = end + 1
            if !line.isEmpty { lines.append(line) }
        }
        remainder += piece[start...]
        guard remainder.count <= limit, lines.allSatisfy({ $0.count <= limit }) else {
            throw RelayClientError(
                .invalidResponse,
                "a line of the relay's answer has more than \(limit) bytes"
            )
        }
        return lines
    }
}
