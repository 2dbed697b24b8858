/// How long jobs and their bodies are kept once they are over.
package struct Retention: Hashable, Sendable {
    package var succeeded: Duration = .seconds(24 * 3_600)
    /// Also of cancelled and expired jobs.
    package var dead: Duration = .seconds(30 * 24 * 3_600)
    /// Of requests and answers; the record itself may stay longer.
    package var bodies: Duration = .seconds(7 * 24 * 3_600)

    package init() {}
}
