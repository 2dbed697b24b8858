/// How long and how much a caller may take.
package struct ServerLimits: Sendable {
    /// Connections of one loop that have no place and are heard all the same; one more ends the oldest.
    package var maxRefusals = 32
    /// How long such a caller may take to ask.
    package var refusedHead: Duration = .seconds(1)
    /// From the first byte of a head to its end.
    package var head: Duration = .seconds(10)
    /// From the end of the head to the end of a document for the API; the body of a request has its route's limits.
    package var body: Duration = .seconds(60)
    /// The longest pause of a stream of jobs with no job under way.
    package var streamIdle: Duration = .seconds(60)
    /// Between two requests of a connection.
    package var idle: Duration = .seconds(60)
    /// How long a caller may take nothing of an answer.
    package var writeStall: Duration = .seconds(30)
    /// How long a caller that was refused may go on sending before the connection is cut.
    package var linger: Duration = .seconds(2)
    /// Bytes of a JSON document sent to the API.
    package var maxDocument = 1_048_576

    package init() {}
}
