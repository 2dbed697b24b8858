import RelayBase
package import RelayJobs

extension StoredJob {
    /// All of it but the position, which a store may choose.
    package var text: String {
        [
            "\(record.id)", record.route, state.name, reason?.name ?? "-", end?.rawValue ?? "-",
            failureKind?.rawValue ?? "-", "\(createdAt) \(runAt) \(expiresAt ?? 0) \(finishedAt ?? 0)",
            "\(attempts) \(spentAttempts) \(crashes) v\(version) \(earlierAttempts) \(isCancelAsked) \(bodyLength) \(hasBody) \(hasAnswer)",
            record.labels.joined(separator: ","), record.orderingKey ?? "-",
        ].joined(separator: " ")
    }
}
