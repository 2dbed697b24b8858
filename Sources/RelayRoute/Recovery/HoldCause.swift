package import RelayBase

/// The failure for which an upstream is sent nothing, as rules are asked about it.
package struct HoldCause: Hashable, Sendable {
    package var kind: FailureKind
    package var status: Status?

    package init(kind: FailureKind, status: Status?) {
        self.kind = kind
        self.status = status
    }

    package var failure: Failure { Failure(kind, sent: .answered, "", status: status) }
}
