/// The end of a second sending of an attempt that was late.
package enum HedgeEnd: String, CaseIterable, Sendable {
    /// Its answer was taken.
    case won
    /// The first sending's answer was taken, or both failed.
    case lost
    /// It was not sent, since the route's traffic did not allow it.
    case withheld
}
