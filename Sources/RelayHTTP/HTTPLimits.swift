/// The bounds of one message; one that exceeds them is refused.
///
/// Every bound is inclusive: a head of exactly `head` bytes passes.
package struct HTTPLimits: Sendable {
    /// Start line and fields together with their line ends, in bytes; at most 16 MiB is honoured.
    package var head = 65_536
    /// The request target, in bytes.
    package var target = 16_384
    /// The method, in bytes.
    package var method = 32
    /// Fields in a head.
    package var fieldCount = 200
    /// One field name, in bytes; at most 65,535 is honoured.
    package var fieldName = 256
    /// Trailer fields after a chunked body, in bytes.
    package var trailers = 8_192
    /// Chunk extensions of a whole body, in bytes.
    package var chunkExtensions = 16_384

    package init() {}

    var boundedHead: Int { max(0, min(head, 16 * 1_048_576)) }
    var boundedFieldName: Int { max(0, min(fieldName, Int(UInt16.max))) }
}
