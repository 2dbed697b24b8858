import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var check: Section<CheckRequest> {
        Section(
            "check",
            "A request that changes nothing, for waystation check --online. It carries the route's credential, and what "
                + "request.headers, request.query, prepare and signing set.",
            of: CheckRequest()
        ) {
            Field("method", safeMethod, \.method) { "GET or HEAD." }
            Field("path", .checkPath, \.path, isRequired: true) {
                "The path below the upstream's base, with a query where it has one."
            }
            Field("status", .statuses, \.statuses) {
                "The statuses of an answer that is well, such as \"2xx\" and \"404\"."
            }
        }
    }
}

extension ValueKind where Value == String {
    fileprivate static var checkPath: ValueKind {
        .text("a path") { text throws(Refusal) in
            // The base itself.
            if text == "/" { return "" }
            let template = try LookUpTemplate(path: text)
            guard template.parts.count == 1, case .text(let path)? = template.parts.first else {
                throw Refusal(
                    "no request is at hand whose values could stand here",
                    hint: "leave out the braces"
                )
            }
            return path
        }.writing { .string($0) }
    }
}
