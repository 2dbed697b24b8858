import RelayCore
import RelayRoute
import RelaySystemd

/// The words and fields of records about what callers take of what all share.
enum CallerRecords {
    static func refused(_ refused: CallerShares.Refused) -> JournalRecord {
        let who = refused.user.map { "uid \($0)" } ?? "callers of ports"
        let requests = "\(refused.count) request\(refused.count == 1 ? "" : "s")"
        var record = JournalRecord(
            .warning,
            .callerRefused,
            refused.bound == .allRequests
                ? "all callers together came to \(refused.bound.rawValue): \(requests) of \(who) refused"
                : "\(who) came to \(refused.bound.rawValue): \(requests) refused"
        )
        record.add(.clientUser, refused.user)
        record.add(.count, refused.count)
        record.add(.detail, refused.bound.rawValue)
        return record
    }
}
