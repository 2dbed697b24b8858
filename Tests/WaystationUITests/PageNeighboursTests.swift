import Glibc
import RelayPosix
import Testing

@testable import WaystationUI

@Suite("The users whose programs the port of waystation ui lets in")
struct PageNeighboursTests {
    private struct Failed: Error {}

    private static func lend(
        _ host: UInt32,
        _ port: UInt16,
        _ call: (UnsafePointer<sockaddr>) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: host.bigEndian)
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0) }
        }
    }

    /// A connection to the loopback from `source`, and its other end.
    private struct Pair: ~Copyable {
        private var near: FileDescriptor?
        let far: FileDescriptor

        init(from source: UInt32 = 0x7F00_0001) throws {
            let raw = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            near = FileDescriptor(raw)
            far = FileDescriptor(try PageNeighboursTests.connect(raw, from: source))
        }

        mutating func leave(byReset isReset: Bool) {
            if isReset, let raw = near?.raw {
                var now = linger(l_onoff: 1, l_linger: 0)
                unsafe setsockopt(raw, SOL_SOCKET, SO_LINGER, &now, 8)
            }
            near = nil
        }
    }

    /// - Returns: the end that was accepted.
    private static func connect(_ raw: Int32, from source: UInt32) throws -> Int32 {
        let listener = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: 0)
        guard case .ip(_, let port)? = Socket.localAddress(listener.raw),
            unsafe lend(source, 0, { unsafe bind(raw, $0, 16) }) == 0,
            unsafe lend(0x7F00_0001, port, { unsafe Glibc.connect(raw, $0, 16) }) == 0,
            case .connection(let socket) = Socket.accept(listener.raw)
        else { throw Failed() }
        return socket.release()
    }

    private let own = PageNeighbours(users: [geteuid()])

    @Test("A program of the user comes in, also when the other end has finished")
    func finished() throws {
        let pair = try Pair()
        #expect(own.stranger(at: pair.far.raw) == nil)
        Socket.finishSending(pair.far.raw)
        #expect(own.stranger(at: pair.far.raw) == nil)
    }

    @Test("One of another user is refused, and told what may be done")
    func another() throws {
        let pair = try Pair()
        let told = try #require(PageNeighbours(users: [4_000_000]).stranger(at: pair.far.raw))
        #expect(told.contains("uid \(geteuid()) may not use a page that is open for uid 4000000"))
        #expect(told.contains("--for USER"))
    }

    @Test("A caller from another address of the loopback is refused, whoever it is")
    func address() throws {
        let pair = try Pair(from: 0x7F00_0002)
        let told = try #require(own.stranger(at: pair.far.raw))
        #expect(told.contains("comes from another address"))
    }

    @Test(
        "A caller that has left is refused: by a reset, and by a close, after which the kernel calls the socket root's"
    )
    func gone() throws {
        for isReset in [true, false] {
            var pair = try Pair()
            pair.leave(byReset: isReset)
            #expect(PageNeighbours(users: [0, geteuid()]).stranger(at: pair.far.raw) != nil)
        }
    }

    @Test("Where the kernel knows nobody, nobody comes in")
    func nobody() {
        #expect(PageNeighbours(users: [0]).refusal(of: nil)?.contains("knows no program") == true)
        #expect(PageNeighbours(users: [0, 7]).refusal(of: 7) == nil)
    }

    @Test(
        "A user that became another one is known by the program that made it so",
        arguments: [
            (["SUDO_UID": "1000"], 1000), (["PKEXEC_UID": "1001"], 1001), (["DOAS_USER": "root"], 0),
            (["SUDO_UID": "x"], nil), (["DOAS_USER": "no such user"], nil), ([:], nil),
        ] as [([String: String], UInt32?)]
    )
    func caller(environment: [String: String], user: UInt32?) {
        #expect(PageNeighbours.caller { environment[$0] } == user)
    }
}
