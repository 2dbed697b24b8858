import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayRoute

/// Whether a job of several is on disk, or why it is not.
struct ListedOutcome: Document {
    let id: String?
    let outcome: Result<Acceptance.Accepted, Problem>

    private var job: Acceptance.Accepted? { try? outcome.get() }

    static let members: [Member<ListedOutcome>] = [
        .optional("id", .text, "The caller's own.") { $0.id },
        .required("ok") { $0.job != nil },
        .optional("job") { $0.job?.id },
        .optional("state", .word(["accepted"]), "Of one that is kept.") { $0.job.map { _ in "accepted" } },
        .optional("replayed", .yes) { $0.job?.isReplayed == true ? true : nil },
        .optional("repeatable") { $0.job?.mayRepeat },
        .optional("location", .text) { $0.job.map { Job.Links.path(of: $0.id) } },
        .optional("error", .named("OutcomeError")) {
            if case .failure(let problem) = $0.outcome { problem } else { nil }
        },
    ]
}

/// The outcomes of the jobs of an array.
struct ListedOutcomes: Document {
    let jobs: [ListedOutcome]

    var refused: Int { jobs.count { (try? $0.outcome.get()) == nil } }

    static let members: [Member<ListedOutcomes>] = [
        .required("jobs", .list(.named("ListedOutcome")), "In the order of the array.") { $0.jobs },
        .required("refused", .count, "How many of them were.") { $0.refused },
    ]
}
