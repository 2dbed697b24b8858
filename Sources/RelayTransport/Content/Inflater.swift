import CZlib
import RelayBase

/// Undoes gzip or deflate content coding (RFC 9110 §8.4.1) piece by piece, within a limit of expansion.
///
/// Several gzip members in a row are one content; anything behind the last is refused.
@safe final class Inflater {
    enum Coding {
        case gzip
        case deflate
    }

    /// Decoded bytes after which the ratio is looked at.
    private static let grace = 65_536
    private static let outputStep = 32_768

    private var stream = unsafe z_stream()
    private let coding: Coding
    private let expansion: Int
    private var isOpen = false
    private var isAtEnd = false
    /// The bytes that tell gzip's members, or zlib's form of deflate from the raw one.
    private var prefix: [UInt8] = []
    private var consumed = 0
    private var produced = 0
    /// Whether zlib may hold decoded bytes it had no room for: to be called again, with or without input.
    private(set) var hasPending = false

    /// Begins a content; `expansion` is the decoded bytes allowed for each byte received.
    init(_ coding: Coding, expansion: Int) {
        self.coding = coding
        self.expansion = max(1, expansion)
    }

    deinit {
        if isOpen { unsafe _ = inflateEnd(&stream) }
    }

    /// Decodes what has arrived and returns how many bytes of it were taken: all, unless `output` grew to
    /// `capacity`.
    func decode(_ input: ArraySlice<UInt8>, into output: inout [UInt8], capacity: Int) throws(Failure) -> Int
    {
        var taken = 0
        while taken < input.count || hasPending, output.count < capacity {
            if !hasPending, !isOpen || isAtEnd {
                let byte = input[input.startIndex + taken]
                taken += 1
                consumed += 1
                try begin(byte, into: &output)
                continue
            }
            taken += try inflate(input.dropFirst(taken), into: &output)
        }
        return taken
    }

    /// Takes note that nothing more comes.
    func finish() throws(Failure) {
        // An empty body is no content at all; one byte of a member is as cut short as its middle.
        guard consumed == 0 || isAtEnd && prefix.isEmpty else { throw Self.fault("it ends too early") }
    }

    /// Gathers two bytes to see what begins.
    private func begin(_ byte: UInt8, into output: inout [UInt8]) throws(Failure) {
        prefix.append(byte)
        guard prefix.count == 2 else {
            if isAtEnd, coding == .deflate || byte != 0x1F { throw Self.fault("bytes follow its end") }
            return
        }
        let isZlib = prefix[0] & 0x0F == 8 && (Int(prefix[0]) << 8 | Int(prefix[1])) % 31 == 0
        if isAtEnd, prefix[1] != 0x8B { throw Self.fault("bytes follow its end") }
        // Window bits: 15, with 16 added for gzip, negative for raw deflate (zlib.h).
        let window: Int32 =
            switch coding {
            case .gzip: 15 + 16
            case .deflate: isZlib ? 15 : -15
            }
        if isOpen {
            unsafe _ = inflateReset(&stream)
        } else {
            let size = unsafe Int32(MemoryLayout<z_stream>.size)
            guard unsafe inflateInit2_(&stream, window, ZLIB_VERSION, size) == Z_OK else {
                throw Self.fault("zlib has no memory")
            }
            isOpen = true
        }
        isAtEnd = false
        let first = prefix
        prefix = []
        // Both bytes were counted when they came.
        consumed -= 2
        _ = try inflate(first[...], into: &output)
    }

    private func inflate(_ input: ArraySlice<UInt8>, into output: inout [UInt8]) throws(Failure) -> Int {
        var code = Z_OK
        var left = 0
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.outputStep) { buffer, count in
            unsafe input.withUnsafeBufferPointer { source in
                unsafe stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.avail_in = UInt32(clamping: source.count)
                unsafe stream.next_out = buffer.baseAddress
                unsafe stream.avail_out = UInt32(buffer.count)
                unsafe code = CZlib.inflate(&stream, Z_NO_FLUSH)
                unsafe left = source.count - (min(source.count, Int(UInt32.max)) - Int(stream.avail_in))
                unsafe count = buffer.count - Int(stream.avail_out)
                unsafe stream.next_in = nil
                unsafe stream.next_out = nil
            }
        }
        let taken = input.count - left
        consumed += taken
        produced += piece.count
        output += piece
        hasPending = piece.count == Self.outputStep && code != Z_STREAM_END
        if produced > Self.grace, produced / max(1, consumed) >= expansion {
            throw Failure(
                .httpResponseBodySize,
                sent: .answered,
                "the response body expands to more than \(expansion) times its size"
            )
        }
        switch code {
        case Z_STREAM_END: isAtEnd = true
        case Z_OK: break
        // Nothing could be done with what was given: a full buffer, or no input.
        case Z_BUF_ERROR where taken > 0 || !piece.isEmpty || input.isEmpty: break
        default: throw Self.fault("it is not valid \(coding)")
        }
        return taken
    }

    private static func fault(_ detail: String) -> Failure {
        Failure(
            .httpResponseContentCoding,
            sent: .answered,
            "the response body cannot be decoded: \(detail)"
        )
    }
}
