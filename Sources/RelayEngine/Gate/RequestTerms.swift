package import RelayBase
package import RelayCore

/// The terms that a caller wants for its request, however it words them, and the fields that go on to the upstream.
package struct RequestTerms: Sendable {
    package var options = JobOptions()
    /// Whether it asks for a job that is kept on disk.
    package var wantsDurable = false
    /// The terms of such a job; but for the key they mean nothing for a request that is answered when it is done.
    package var durable = DurableOptions()
    /// End-to-end fields without the relay's own.
    package var forwarded: HeaderFields
    /// Whether the request has passed through this relay before.
    package var isLoop = false

    package init(forwarded: HeaderFields) { self.forwarded = forwarded }
}
