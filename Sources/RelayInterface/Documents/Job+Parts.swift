import RelayBase
package import RelayJSON
import RelayJobs
import RelayRoute

// The parts of a job that no program in Swift asks for by name.
extension Job {
    package static let headers = Schema.list(.list(.text, 2...2)).doc("Names and values, in pairs.")

    package struct Request: ReadableDocument {
        package var method: String?
        package var path: String?
        package var size: Int64?
        /// Writes the fields.
        package var writeFields: (@Sendable (inout JSONObjectWriter) -> Void)?
        /// Writes the content, which may be large.
        package var writeBody: (@Sendable (inout JSONObjectWriter) -> Void)?
        package var sentOnceBecause: String?

        package init() {}

        package static let members: [Member<Request>] = [
            .maybe("method", \.method),
            .maybe("path", \.path, .text, "Without the query."),
            .maybe("size", \.size, .count, "Of the body, in bytes."),
            .written("headers", Job.headers) { $0.writeFields?(&$1) },
            .written("body", .named("Body")) { $0.writeBody?(&$1) },
            .maybe(
                "sent_once_because",
                \.sentOnceBecause,
                .text,
                "Why its body could not be kept for another attempt."
            ),
        ]
    }

    /// The job that goes on with a request which a rule has answered.
    package struct Kept: ReadableDocument {
        package var job = ""
        package var location = ""
        package var isReplayed = false

        package init() {}

        package static let members: [Member<Kept>] = [
            .always("job", \.job, .job), .always("location", \.location),
            .flag("replayed", \.isReplayed, "It is an earlier job of the same key."),
        ]
    }

    package struct OrdinaryPath: ReadableDocument {
        package var reason = ""
        package var detail = ""

        package init() {}

        package static let members: [Member<OrdinaryPath>] = [
            .always("reason", \.reason, .word(RequestWay.reasons)), .always("detail", \.detail),
        ]
    }

    package struct UnderWay: ReadableDocument {
        package var number = 0
        package var upstream = ""
        package var startedAt: WallTime?
        package var isResent = false

        package init() {}

        package static let members: [Member<UnderWay>] = [
            .always("number", \.number, .integer(1...)), .always("upstream", \.upstream),
            Member.maybe("started_at", \.startedAt).required, .flag("resent", \.isResent),
        ]
    }

    /// The job that tells another route of an ending.
    package struct Notice: ReadableDocument {
        package var job = ""
        package var isOwed = false
        package var supersedes: String?

        package init() {}

        package static let members: [Member<Notice>] = [
            .always("job", \.job, .job),
            .flag("owed", \.isOwed, "It is still to be made."),
            .maybe("supersedes", \.supersedes, .job, "The notice of the ending before."),
        ]
    }

    /// An action that somebody took on a job.
    package struct Action: ReadableDocument {
        package var action = ""
        package var at: WallTime?
        package var user: UInt32?
        package var userName: String?
        package var node: String?
        package var isBulk = false
        package var isAsked = false

        package init() {}

        package static let members: [Member<Action>] = [
            .always("action", \.action, .word(JobAction.allCases.map(\.rawValue))),
            Member.maybe("at", \.at).required,
            .maybe("uid", \.user), .maybe("user", \.userName, .text, "The user's name."),
            .maybe("node", \.node, .text, "The daemon of a fleet on whose machine that is the user."),
            .flag("bulk", \.isBulk), .flag("asked", \.isAsked, "A running job was asked to end."),
        ]
    }

    /// Where more of the job is found.
    package struct Links: ReadableDocument {
        package var own: String?
        package var attempts: String?
        package var requestBody: String?
        package var response: String?

        package init() {}

        package static let members: [Member<Links>] = [
            .maybe("self", \.own), .maybe("attempts", \.attempts), .maybe("request_body", \.requestBody),
            .maybe("response", \.response),
        ]
    }
}
