import Glibc
import Testing

@testable import RelaySystemd

@Suite("How much memory there is")
struct MemoryLimitTests {
    private static let machine: UInt64 = 8 << 30

    /// A hierarchy with a limit at each of the places, and the file that says where the process is.
    private func available(_ membership: String, _ limits: [String: String]) throws -> UInt64 {
        let scratch = "/tmp/waystation-groups-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        defer { _ = unsafe system("rm -rf \(scratch)") }
        for (path, text) in limits.merging(["membership": membership], uniquingKeysWith: { $1 }) {
            let folder = "\(scratch)/\(path)".split(separator: "/").dropLast().joined(separator: "/")
            guard unsafe system("mkdir -p /\(folder)") == 0 else { continue }
            let descriptor = unsafe open("\(scratch)/\(path)", O_CREAT | O_WRONLY, 0o600)
            defer { close(descriptor) }
            _ = unsafe write(descriptor, text, text.utf8.count)
        }
        return MemoryLimit.available(
            machine: Self.machine,
            membership: scratch + "/membership",
            root: scratch
        )
    }

    @Test("The lowest limit on the way up to the root counts, and \"max\" bounds nothing")
    func unified() throws {
        let membership = "0::/system.slice/waystationd.service\n"
        #expect(try available(membership, [:]) == Self.machine)
        let max = ["system.slice/waystationd.service/memory.max": "max\n"]
        #expect(try available(membership, max) == Self.machine)
        let slice = max.merging(["system.slice/memory.max": "1073741824\n"]) { $1 }
        #expect(try available(membership, slice) == 1 << 30)
        let unit = [
            "system.slice/waystationd.service/memory.max": "67108864\n", "system.slice/memory.max": "max\n",
        ]
        #expect(try available(membership, unit) == 64 << 20)
        #expect(try available(membership, ["other.slice/memory.max": "1\n"]) == Self.machine)
    }

    @Test("So does one of the older hierarchy, which has a number even where there is none")
    func legacy() throws {
        let membership = "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/c\n"
        #expect(
            try available(membership, ["memory/a/b/memory.limit_in_bytes": "9223372036854771712\n"])
                == Self.machine
        )
        let limits = [
            "memory/a/memory.limit_in_bytes": "134217728\n",
            "memory/a/b/memory.limit_in_bytes": "268435456\n",
        ]
        #expect(try available(membership, limits) == 128 << 20)
    }

    @Test("Nobody who sets nothing gets less than 32 MiB, of all of which an eighth is kept back")
    func account() {
        #expect(MemoryLimit.account(nil) >= 28 << 20)
        #expect(MemoryLimit.account(8 << 20) == 7 << 20)
    }
}
