package import RelayBase
import Synchronization

/// The kind and the status of a failed attempt in two bytes, since an hour's figures hold many of them.
package struct FailureCode: Hashable, Sendable {
    private struct Cause: Hashable, Sendable {
        let kind: FailureKind
        let status: Status?
    }

    private struct Table {
        var codes: [Cause: UInt16] = [:]
        var causes: [Cause] = []
    }

    private static let table = Mutex(Table())
    /// A configuration has far fewer, but for one that is ever changed.
    private static let limit = 4_096

    /// Counted from 1.
    private let code: UInt16

    /// Stands for causes of which nobody keeps more than their number.
    package static let other = FailureCode(code: 0)

    private init(code: UInt16) { self.code = code }

    package init(_ failure: Failure) {
        let cause = Cause(kind: failure.kind, status: failure.status)
        code = FailureCode.table.withLock { table in
            if let code = table.codes[cause] { return code }
            guard table.causes.count < FailureCode.limit else { return 0 }
            table.causes.append(cause)
            table.codes[cause] = UInt16(table.causes.count)
            return UInt16(table.causes.count)
        }
    }

    private var cause: Cause? {
        code == 0 ? nil : FailureCode.table.withLock { $0.causes[Int(code) - 1] }
    }

    /// Nil of `other`.
    package var kind: FailureKind? { cause?.kind }
    /// The answer's; nil where there was none.
    package var status: Status? { cause?.status }
}

extension FailureCode: Comparable {
    /// The order in which they were met.
    package static func < (one: FailureCode, other: FailureCode) -> Bool { one.code < other.code }
}
