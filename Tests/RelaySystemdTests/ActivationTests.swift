import Glibc
import RelaySystemd
import Testing

@Suite("Socket activation")
struct ActivationTests {
    @Test("listeners are found by name, whatever their order")
    func byName() throws {
        let (unix, internet) = (listener(AF_UNIX), listener(AF_INET))
        defer {
            close(unix)
            close(internet)
        }
        let sockets = try ActivatedSockets(descriptors: [(internet, "local"), (unix, "jobs")])
        #expect(sockets.named("jobs") == [.init(descriptor: unix, name: "jobs", family: .unix)])
        #expect(sockets.named("local") == [.init(descriptor: internet, name: "local", family: .internet)])
        #expect(sockets.named("control") == [])
    }

    @Test("a descriptor that is no listening stream socket is refused by name")
    func refused() {
        let datagram = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let idle = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(datagram)
            close(idle)
        }
        for descriptor in [datagram, idle, -1] {
            #expect(throws: ActivationError.notAListener(name: "jobs", descriptor: descriptor)) {
                try ActivatedSockets(descriptors: [(descriptor, "jobs")])
            }
        }
    }

    @Test("a process without activation has no sockets")
    func none() throws {
        #expect(try ActivatedSockets.fromEnvironment().listeners.isEmpty)
    }

    @Test("a process that cannot exist has no unit", arguments: [-1, 0, Int32.max])
    func noUnit(process: Int32) {
        #expect(unitOfProcess(process) == nil)
    }
}

/// A listening stream socket at an address of the kernel's choice.
private func listener(_ family: Int32) -> Int32 {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    if family == AF_UNIX {
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        _ = unsafe bind(descriptor, &address, socklen_t(MemoryLayout<sa_family_t>.size))
    }
    _ = listen(descriptor, 1)
    return descriptor
}
