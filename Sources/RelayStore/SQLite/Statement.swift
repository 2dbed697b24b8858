import CSQLite
import RelayBase

/// A prepared statement; the connection keeps it.
///
/// Parameters count from 1, columns from 0. The caller that steps it resets it.
@safe final class Statement {
    private let raw: OpaquePointer
    private let path: String

    @unsafe init(_ raw: OpaquePointer, path: String) {
        unsafe self.raw = raw
        self.path = path
    }

    deinit { unsafe sqlite3_finalize(raw) }

    func bind(_ index: Int32, _ value: Int64) { unsafe sqlite3_bind_int64(raw, index, value) }

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { bind(index, value) } else { unsafe sqlite3_bind_null(raw, index) }
    }

    func bind(_ index: Int32, _ value: String?) {
        guard var value else {
            unsafe sqlite3_bind_null(raw, index)
            return
        }
        value.withUTF8 { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
                // An empty buffer has no address, and SQLite takes a text without one for NULL.
                if let base = text.baseAddress {
                    unsafe _ = relay_sqlite_bind_text(raw, index, base, Int32(text.count))
                } else {
                    _ = unsafe relay_sqlite_bind_text(raw, index, "", 0)
                }
            }
        }
    }

    func bind(_ index: Int32, _ bytes: [UInt8]?) {
        guard let bytes else {
            unsafe sqlite3_bind_null(raw, index)
            return
        }
        unsafe bytes.withUnsafeBytes {
            unsafe _ = relay_sqlite_bind_copy(raw, index, $0.baseAddress, Int32($0.count))
        }
    }

    func bind(_ index: Int32, _ id: JobID) {
        unsafe withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) {
            unsafe _ = relay_sqlite_bind_copy(raw, index, $0.baseAddress, Int32($0.count))
        }
    }

    /// Runs with bytes that outlive the run, so that SQLite need not copy them before it puts them into a page.
    func run(with bytes: [UInt8], at index: Int32) throws(StoreError) {
        try check(unsafe bytes.withUnsafeBytes { unsafe run(lent: $0, at: index) })
    }

    /// The same with bytes that somebody lends.
    func run(with bytes: Span<UInt8>, at index: Int32) throws(StoreError) {
        try check(unsafe bytes.withUnsafeBytes { unsafe run(lent: $0, at: index) })
    }

    /// The same with the bytes of an id.
    func run(with id: JobID, at index: Int32) throws(StoreError) {
        let bytes = (id.high.bigEndian, id.low.bigEndian)
        try check(unsafe withUnsafeBytes(of: bytes) { unsafe run(lent: $0, at: index) })
    }

    private func run(lent bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
        unsafe sqlite3_bind_blob(raw, index, bytes.baseAddress, Int32(bytes.count), nil)
        defer {
            unsafe sqlite3_reset(raw)
            unsafe sqlite3_bind_null(raw, index)
        }
        return unsafe sqlite3_step(raw)
    }

    /// Whether there is a row.
    func step() throws(StoreError) -> Bool {
        try check(unsafe sqlite3_step(raw))
    }

    @discardableResult
    private func check(_ result: Int32) throws(StoreError) -> Bool {
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        let system = unsafe sqlite3_system_errno(sqlite3_db_handle(raw))
        throw .sqlite("read or write", result, system: system, path: path)
    }

    /// Steps a statement that gives no rows, and resets it.
    func run() throws(StoreError) {
        defer { reset() }
        _ = try step()
    }

    func reset() { unsafe sqlite3_reset(raw) }

    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(raw, column) == SQLITE_NULL }

    func int(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(raw, column) }

    func optionalInt(_ column: Int32) -> Int64? { isNull(column) ? nil : int(column) }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let pointer = unsafe sqlite3_column_blob(raw, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(raw, column))
        return unsafe Array(UnsafeRawBufferPointer(start: pointer, count: count))
    }

    func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    func text(_ column: Int32) -> String? {
        guard let pointer = unsafe sqlite3_column_text(raw, column) else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(raw, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: pointer, count: count), as: UTF8.self)
    }
}
