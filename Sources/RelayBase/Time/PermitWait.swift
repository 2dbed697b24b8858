/// The wait of a request for a permit of its route, in words.
package enum PermitWait {
    /// Nil of a wait that is not worth a word: less than a millisecond.
    package static func text(_ wait: Duration) -> String? {
        guard wait >= .milliseconds(1) else { return nil }
        return "waited \(DurationText.text(wait)) for a permit of the route (concurrency.max_requests)"
    }
}
