/// A job that came to its end in the store, without a run of it saying so.
package struct EndedJob: Hashable, Sendable {
    package var id: JobID
    package var route: String
    /// Who handed it over; nil when that is not known.
    package var user: UInt32?
    package var state: JobState
    /// Nil when the state says it all.
    package var reason: EndReason?

    package init(id: JobID, route: String, user: UInt32?, state: JobState, reason: EndReason?) {
        self.id = id
        self.route = route
        self.user = user
        self.state = state
        self.reason = reason
    }
}
