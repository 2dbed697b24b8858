import RelayPosix
import Synchronization
import Testing

@Suite("The names of users", .timeLimit(.minutes(1)))
struct UserNamesTests {
    /// A source that answers when it is let go.
    private final class Directory: Sendable {
        private let asked = Mutex<[UInt32]>([])
        private let gate = Mutex<Void>(())
        let now = Atomic<Int64>(0)

        var questions: [UInt32] { asked.withLock { $0 } }

        func name(_ user: UInt32) -> String? {
            asked.withLock { $0.append(user) }
            return gate.withLock { _ in user == 9 ? nil : "user\(user)" }
        }

        /// Nothing is answered while `body` runs.
        func hold(_ body: () -> Void) { gate.withLock { _ in body() } }
    }

    private func names(_ directory: Directory, users: Int = 1_024, waiters: Int = 256) -> UserNames {
        var limits = UserNames.Limits()
        (limits.users, limits.waiters) = (users, waiters)
        return UserNames(
            limits: limits,
            clock: { directory.now.load(ordering: .relaxed) },
            source: { directory.name($0) }
        )
    }

    private func name(_ names: UserNames, _ user: UInt32) async -> String? {
        await withCheckedContinuation { continuation in
            switch names.lookUp(user, { continuation.resume(returning: $0) }) {
            case .known(let name): continuation.resume(returning: name)
            case .asked: break
            case .refused: continuation.resume(returning: "refused")
            }
        }
    }

    @Test("A name is looked up once and remembered for ten minutes, also that there is none")
    func remembered() async {
        let directory = Directory()
        let names = names(directory)
        for _ in 0..<3 {
            #expect(await name(names, 7) == "user7")
            #expect(await name(names, 9) == nil)
        }
        #expect(directory.questions == [7, 9])
        directory.now.store(600_000_000_000, ordering: .relaxed)
        #expect(await name(names, 7) == "user7" && directory.questions == [7, 9, 7])
    }

    @Test("A look-up that hangs keeps nobody from going on, and no more than so many wait for one")
    func hanging() async {
        let directory = Directory()
        let names = names(directory, waiters: 3)
        let (told, tells) = AsyncStream<String?>.makeStream()
        directory.hold {
            for user in [1, 1, 2] as [UInt32] { #expect(names.lookUp(user, { tells.yield($0) }) == .asked) }
            #expect(names.lookUp(3, { tells.yield($0) }) == .refused)
        }
        var heard: [String?] = []
        for await name in told.prefix(3) { heard.append(name) }
        #expect(heard == ["user1", "user1", "user2"] && directory.questions == [1, 2])
    }

    @Test("No more than so many are remembered")
    func bounded() async {
        let directory = Directory()
        let names = names(directory, users: 2)
        for user in [1, 2, 3] as [UInt32] { _ = await name(names, user) }
        #expect(names.lookUp(3, { _ in }) == .known("user3"))
        #expect(await name(names, 1) == "user1" && directory.questions == [1, 2, 3, 1])
    }

    @Test("The system names root, and nobody whom it does not know")
    func system() {
        #expect(systemUserName(0) == "root")
        #expect(systemUserName(3_999_999_999) == nil)
    }
}
