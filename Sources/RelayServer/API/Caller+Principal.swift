import RelayBase
import RelayCore
import RelayPosix

extension Caller {
    /// How long an action waits for the name of whoever asked for it; later its uid alone is told.
    private static let nameTimeout: Duration = .milliseconds(250)

    /// The user that asks; nil when the kernel does not tell it.
    func principal() async -> Principal? {
        guard let user = client?.user else { return nil }
        let wait = Pending<String?>()
        switch server.names.lookUp(user, { wait.give($0) }) {
        case .known(let name): return Principal(user, name: name)
        case .refused: return Principal(user)
        case .asked:
            let time = server.relay.ports.time
            let deadline = time.now().advanced(by: Caller.nameTimeout)
            let name = await cancelling(at: deadline, time) { await wait.valueUnlessCancelled() }
            return Principal(user, name: name.flatMap { $0 })
        }
    }
}
