import RelayBase
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

// A request that is kept, without a task as long as only the disk is to be waited for.
extension Connection {
    /// Hands the request over to the disk.
    ///
    /// - Returns: whether it is on its way there; nothing is done otherwise.
    func keepPromptly(_ request: ServerRequest, _ body: Body) -> Bool {
        guard case .relay(let admission) = request.purpose, admission.keeping.wait == nil else {
            return false
        }
        let bytes: [UInt8]
        switch body {
        case .empty: bytes = []
        case .bytes(let whole): bytes = whole
        case .stream: return false
        }
        let connection = LoopBound(self, loop)
        let keeping = server.intake().keepPromptly(admission, bytes) { word in connection.value.kept(word) }
        guard let keeping else { return false }
        request.keeping = keeping
        setDeadline(keeping.limit)
        return true
    }

    /// The caller is gone, or the disk takes too long: what is on its way to disk is waited for as any other.
    ///
    /// - Returns: false when nothing is on its way that has no task.
    func keepWithTask() -> Bool {
        guard let request, task == nil, let keeping = request.keeping, !request.isAnswered else {
            return false
        }
        keeping.takeTask()
        spawn()
        return true
    }

    /// The store has said its word, and no task waits for it.
    private func kept(_ word: PromptAcceptance.Reply) {
        guard let request, case .relay(let admission) = request.purpose, admission.isDurable else { return }
        clearDeadline()
        if case .waits = word { return spawn() }
        request.isAnswered = true
        let isHead = request.head.method == .head
        switch word {
        case .waits: return
        case .accepted(let accepted):
            let kept = AcceptedAnswer(accepted: accepted, preferences: Preferences(admission))
            write(kept, admission, isHead: isHead)
        case .refused(let problem):
            server.problems.count(problem, of: admission.route.name)
            _ = write(Answer(problem), isHead: isHead)
        }
        guard unsent.isEmpty else { return spawn() }
        finish(request)
        goOn()
    }
}
