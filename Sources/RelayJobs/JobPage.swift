/// A place in a list, which later writes do not move.
package struct JobCursor: Hashable, Comparable, Sendable {
    /// The last job that was looked at.
    package var position: Int64

    package init(position: Int64) { self.position = position }

    package static func < (one: JobCursor, other: JobCursor) -> Bool { one.position < other.position }

    /// The form of `text`, as a regular expression.
    package static let pattern = "^c[0-9a-z]{1,12}$"

    /// For a URL; means nothing to a client.
    package var text: String { "c" + String(position, radix: 36) }

    package init?(text: String) {
        guard text.hasPrefix("c"), text.utf8.count <= 13,
            text.utf8.dropFirst().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 || $0 >= 0x61 && $0 <= 0x7A }),
            let position = Int64(text.dropFirst(), radix: 36)
        else { return nil }
        self.position = position
    }
}

package enum ListOrder: Hashable, Sendable {
    case oldestFirst
    case newestFirst
}

/// A part of a list.
package struct JobPage: Sendable {
    package var jobs: [StoredJob] = []
    /// Where to go on; nil at the end.
    ///
    /// A page may be short, even empty, and still have one.
    package var next: JobCursor?

    package init() {}
}
