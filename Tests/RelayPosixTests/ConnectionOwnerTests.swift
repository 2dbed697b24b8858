import Glibc
import Testing

@testable import RelayPosix

@Suite("The user at the other end of a connection within the machine")
struct ConnectionOwnerTests {
    @Test("Of both families, in both directions; a port that nobody has connected from is nobody's")
    func real() throws {
        for address in [IPAddress(v4: 0x7F00_0001), IPAddress(v6: 0, 1)] {
            let listener = try Listener.tcp(address, port: 0)
            let far = try #require(Socket.localAddress(listener.raw))
            guard case .underway(let socket) = Socket.connect(to: far) else { return #expect(Bool(false)) }
            var entry = pollfd(fd: socket.raw, events: Int16(POLLOUT), revents: 0)
            #expect(unsafe poll(&entry, 1, 10_000) == 1)
            let near = try #require(Socket.localAddress(socket.raw))
            #expect(try ConnectionOwner.user(of: near, to: far) == geteuid())
            #expect(try ConnectionOwner.user(of: far, to: near) == geteuid())
            #expect(try ConnectionOwner.user(of: .ip(address, port: 1), to: far) == nil)
            // The listener is no end of a connection.
            #expect(try ConnectionOwner.user(of: far, to: .ip(address, port: 1)) == nil)
        }
    }

    @Test("A reply that neither names a socket nor says that there is none is an error")
    func odd() throws {
        var answer = [UInt8](repeating: 0, count: 20)
        #expect(throws: PosixError.self) { try ConnectionOwner.user(in: answer[...]) }
        #expect(throws: PosixError.self) { try ConnectionOwner.user(in: answer[..<5]) }
        answer[4] = 2
        unsafe answer.withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: -EPERM, toByteOffset: 16, as: Int32.self)
        }
        #expect(throws: PosixError.self) { try ConnectionOwner.user(in: answer[...]) }
        unsafe answer.withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: -ENOENT, toByteOffset: 16, as: Int32.self)
        }
        #expect(try ConnectionOwner.user(in: answer[...]) == nil)
    }
}
