package import RelayBase

/// An operation that an upstream has begun for a job, as long as it is followed.
package struct BegunOperation: Sendable {
    /// Path and query at the upstream's origin.
    package let target: String
    /// Whether what stands there has a status of its own, and is not the result.
    package let isMonitor: Bool
    /// The name of the upstream.
    package let upstream: String
    /// The origin that answered; nil in a record from before it was kept.
    package let origin: String?
    /// When it began, in milliseconds since 1970 UTC.
    package let beganAt: Int64
    /// Whether an earlier life of the job has begun it: an operator wants the job to be sent again.
    package var isEarlier = false
    /// The last look that came to nothing, as far as it is on record.
    package var trouble: Failure?
    /// Looks at it that are on record.
    package var looks = 0

    /// Of all of them, besides the last.
    package static let mostLooks = 8

    package init(_ target: String, isMonitor: Bool, upstream: String, origin: String, beganAt: Int64) {
        (self.target, self.isMonitor) = (target, isMonitor)
        (self.upstream, self.origin, self.beganAt) = (upstream, origin, beganAt)
    }

    /// Of an attempt that has begun it, as `reference` has its address.
    init(_ reference: String, _ attempt: Attempt) {
        let address = reference.utf8.prefix { $0 != UInt8(ascii: " ") }
        isMonitor = address.last == UInt8(ascii: "#")
        target = String(decoding: isMonitor ? address.dropLast() : address, as: UTF8.self)
        let rest = reference.utf8.dropFirst(address.count + 1)
        origin = rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
        upstream = attempt.upstream
        beganAt = attempt.beganAt &+ attempt.duration.saturatedNanoseconds / 1_000_000
    }

    /// Its address on record: a number sign, which no target has, behind that of one with a status, and the origin behind
    /// a space.
    package var reference: String { (isMonitor ? target + "#" : target) + (origin.map { " " + $0 } ?? "") }

    /// How old it is at that moment of the wall clock, which may have been set back since.
    package func age(_ wall: Int64) -> Duration { .milliseconds(max(0, wall.subtractingSaturating(beganAt))) }
}
