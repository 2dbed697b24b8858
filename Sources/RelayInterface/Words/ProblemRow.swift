package import RelayBase

/// The row of a problem's code: everything that is said of it anywhere.
struct ProblemRow {
    let status: Status
    let title: String
    let about: ProblemExample.Parts
    let seconds: Int?
    let meant: String?
    let kind: () -> FailureKind?
    let error: () -> ProblemExample.Fault?
    /// Its sentence, and the lines of its causes, its remedy and the detail of an example.
    let text: () -> String

    func example(_ detail: String) -> ProblemExample {
        ProblemExample(
            detail: detail,
            about: about,
            seconds: seconds,
            meant: meant,
            kind: kind(),
            error: error()
        )
    }
}

/// One value of a row; it is called with the row.
struct ProblemColumn<Value> {
    let value: (ProblemRow) -> Value

    @inline(__always)
    init(_ value: @escaping (ProblemRow) -> Value) { self.value = value }

    @inline(__always)
    func callAsFunction(
        _ status: Status,
        _ title: String,
        of about: ProblemExample.Parts = [],
        after seconds: Int? = nil,
        meant: String? = nil,
        kind: @autoclosure @escaping () -> FailureKind? = nil,
        error: @autoclosure @escaping () -> ProblemExample.Fault? = nil,
        text: @escaping () -> String
    ) -> Value {
        value(
            ProblemRow(
                status: status,
                title: title,
                about: about,
                seconds: seconds,
                meant: meant,
                kind: kind,
                error: error,
                text: text
            )
        )
    }
}

/// An answer with a problem's code, as far as the code decides it.
package struct ProblemExample {
    package typealias Fault = (pointer: String, message: String, hint: String)

    package struct Parts: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// It names a route.
        package static let route = Parts(rawValue: 1)
        /// It names a job.
        package static let job = Parts(rawValue: 2)
    }

    package let detail: String
    package let about: Parts
    /// `Retry-After`.
    package let seconds: Int?
    /// `did_you_mean`.
    package let meant: String?
    /// The kind of a failure before anything was sent.
    package let kind: FailureKind?
    /// The only one of `errors`.
    package let error: Fault?
}
