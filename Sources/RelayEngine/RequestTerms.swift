package import RelayCore

/// What a caller asks for its request, in whatever words it came, and the fields that go on to the upstream.
package struct RequestTerms: Sendable {
    package var options = JobOptions()
    /// Whether it asks for a job that is kept on disk.
    package var wantsDurable = false
    /// What it asks for that; means nothing for a request that is answered when it is done, but for the key.
    package var durable = DurableOptions()
    /// End-to-end fields without the relay's own.
    package var forwarded: HeaderFields
    /// Whether the request has passed through this relay before.
    package var isLoop = false

    package init(forwarded: HeaderFields) { self.forwarded = forwarded }
}
