/// The parameters of a statement as libpq takes them.
struct BoundParameters {
    let types: [UInt32]
    private let bytes: [UInt8]
    private let offsets: [Int?]
    private let lengths: [Int32]

    init(_ values: [PostgresValue]) {
        var bytes: [UInt8] = []
        var offsets: [Int?] = []
        var lengths: [Int32] = []
        for value in values {
            let start = bytes.count
            offsets.append(value.append(to: &bytes) ? start : nil)
            lengths.append(Int32(clamping: bytes.count - start))
        }
        // An empty array has no address, and a value without one would be NULL.
        bytes.append(0)
        types = values.map(\.type.rawValue)
        self.bytes = bytes
        self.offsets = offsets
        self.lengths = lengths
    }

    var count: Int32 { Int32(clamping: types.count) }

    /// Bytes of all values.
    var size: Int { bytes.count - 1 }

    /// Lends addresses, lengths and formats.
    func withPointers(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Bool
    ) -> Bool {
        let formats = [Int32](repeating: 1, count: types.count)
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                let start = bytes.baseAddress
                let values: [UnsafePointer<CChar>?] = unsafe offsets.map { offset in
                    guard let offset, let start = unsafe start else { return nil }
                    return unsafe start + offset
                }
                return unsafe values.withUnsafeBufferPointer { values in
                    unsafe lengths.withUnsafeBufferPointer { lengths in
                        unsafe formats.withUnsafeBufferPointer { formats in
                            unsafe body(values.baseAddress, lengths.baseAddress, formats.baseAddress)
                        }
                    }
                }
            }
        }
    }
}
