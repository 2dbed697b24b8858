import RelayBase
import RelayJSON
import RelayRoute

/// How a route asks what became of a request, as the file has it: the upstream by its name.
struct VerifyDraft {
    var request = LookUpDraft()
    var found = SuccessRule()
    var answer: JSONPointer?
    var absent = SuccessRule()
    var on = FailureMatcher([.any])
    var settleAfter: Duration = .seconds(1)
    var timeout: Duration = .seconds(5)
    var attempts = 3

    /// Nil only for a draft that has not passed the checks.
    func made(_ upstreams: [String]) -> Verification? {
        guard let path = request.path else { return nil }
        var made = Verification(
            method: request.method,
            path: path,
            fields: request.fields,
            found: found,
            absent: absent
        )
        made.upstream = request.upstream.flatMap(upstreams.firstIndex)
        made.answer = answer
        (made.on, made.settleAfter, made.timeout, made.attempts) = (on, settleAfter, timeout, attempts)
        return made
    }
}

struct LookUpDraft {
    var method = Method.get
    var path: LookUpTemplate?
    var fields: [(name: String, value: LookUpTemplate)] = []
    var upstream: String?
}
