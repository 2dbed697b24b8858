import RelayBase

/// How jobs that are made due together are spread: the first after `first`, each next one `interval` later.
package struct JobSpacing: Hashable, Sendable {
    package var first: Duration
    package var interval: Duration

    package init(first: Duration, interval: Duration) {
        self.first = first
        self.interval = interval
    }

    /// Of the job that is the `index`-th to change, counted from 0; saturates.
    package func delay(of index: Int) -> Duration {
        let (product, overflow) = interval.saturatedNanoseconds.multipliedReportingOverflow(by: Int64(index))
        return .nanoseconds(first.saturatedNanoseconds.addingSaturating(overflow ? .max : product))
    }
}
