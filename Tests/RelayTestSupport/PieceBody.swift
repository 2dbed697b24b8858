package import RelayBase

/// A streamed body somebody has read from.
package final class ReadBody: BodySource {
    package let length: UInt64? = nil
    package let wasRead = true

    package init() {}

    package func next() async throws(Failure) -> [UInt8]? { nil }
    package func cancel() {}
}
