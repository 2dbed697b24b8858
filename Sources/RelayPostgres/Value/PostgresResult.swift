import CPostgres

/// The answer to one statement, copied out of the library; what is not there, or of another type, is nil.
package struct PostgresResult: Sendable {
    /// Rows.
    package let count: Int
    /// Rows that the statement inserted, changed, removed or gave.
    package let affected: Int
    /// Whether a WARNING came with it; at a COMMIT it may say that a synchronous standby was given up.
    package internal(set) var hasWarning = false

    private struct Cell {
        var start: Int32
        /// -1 for NULL.
        var count: Int32
    }

    private let columns: Int
    private let cells: [Cell]
    private let bytes: [UInt8]

    @unsafe init(copying result: OpaquePointer) {
        let rows = unsafe relay_pq_result_rows(result)
        let columns = unsafe relay_pq_result_columns(result)
        count = Int(rows)
        self.columns = Int(columns)
        let affected = unsafe plainText(relay_pq_result_affected(result))
        self.affected = Int(affected) ?? 0
        var cells: [Cell] = []
        var bytes: [UInt8] = []
        cells.reserveCapacity(Int(rows) * Int(columns))
        for row in 0..<rows {
            for column in 0..<columns {
                let start = Int32(truncatingIfNeeded: bytes.count)
                guard unsafe !relay_pq_result_is_null(result, row, column) else {
                    cells.append(Cell(start: start, count: -1))
                    continue
                }
                let length = unsafe relay_pq_result_length(result, row, column)
                let value = unsafe relay_pq_result_value(result, row, column)
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: Int(length)))
                cells.append(Cell(start: start, count: length))
            }
        }
        self.cells = cells
        self.bytes = bytes
    }

    /// The value of int2, int4 or int8.
    package func int64(_ row: Int, _ column: Int) -> Int64? {
        guard let value = slice(row, column) else { return nil }
        var bits: UInt64 = 0
        for byte in value { bits = bits << 8 | UInt64(byte) }
        switch value.count {
        case 2: return Int64(Int16(truncatingIfNeeded: bits))
        case 4: return Int64(Int32(truncatingIfNeeded: bits))
        case 8: return Int64(bitPattern: bits)
        default: return nil
        }
    }

    package func bytes(_ row: Int, _ column: Int) -> [UInt8]? { slice(row, column).map(Array.init) }

    package func text(_ row: Int, _ column: Int) -> String? {
        slice(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    package func bool(_ row: Int, _ column: Int) -> Bool? {
        guard let value = slice(row, column), value.count == 1 else { return nil }
        return value.first == 1
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool { slice(row, column) == nil }

    private func slice(_ row: Int, _ column: Int) -> ArraySlice<UInt8>? {
        guard row >= 0, row < count, column >= 0, column < columns else { return nil }
        let cell = cells[row * columns + column]
        return cell.count < 0 ? nil : bytes[Int(cell.start)..<Int(cell.start) + Int(cell.count)]
    }
}
