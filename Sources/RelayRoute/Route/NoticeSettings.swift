/// How another route is told of the endings of a route's kept jobs: each becomes a job of that one.
package struct NoticeSettings: Sendable, Equatable {
    /// An ending, by the word of its state.
    package enum Ending: String, CaseIterable, Sendable {
        case succeeded
        case dead
        case cancelled
        case expired
    }

    /// A body that may stand in a notice.
    package enum Content: String, CaseIterable, Sendable {
        case request
        case response
    }

    /// The name of the route that is told.
    package var route = ""
    package var endings = Ending.allCases
    /// The bodies in a notice; none leaves it with the job's document.
    package var contents: [Content] = []

    package init() {}
}
