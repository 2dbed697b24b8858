import CLinux
import RelayBase

/// How much memory the process may use: the machine's, or what its unit and those above it are allowed.
package enum MemoryLimit {
    /// The least an account is given that nobody has set.
    private static let least = 32 << 20

    /// The account's limit: what the configuration says, or a quarter of what there is, without an eighth of it for
    /// what bodies take beside their bytes.
    package static func account(_ configured: Int?) -> Int {
        let limit = configured ?? max(least, Int(clamping: available / 4))
        return limit - limit / 8
    }

    /// Bytes this process may use.
    package static var available: UInt64 { available(machine: relay_machine_memory()) }

    /// Bytes a process may use.
    ///
    /// - Parameters:
    ///   - machine: bytes of the machine's memory; 0 when that is not known.
    ///   - membership: the file that names the control groups of the process (cgroups(7)).
    ///   - root: where the hierarchies are mounted.
    /// - Returns: the least of the limits.
    static func available(
        machine: UInt64,
        membership: String = "/proc/self/cgroup",
        root: String = "/sys/fs/cgroup"
    ) -> UInt64 {
        var least = machine == 0 ? UInt64.max : machine
        for line in text(membership).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[2].contains(text: "..") else { continue }
            let path = String(parts[2])
            if parts[0] == "0", parts[1].isEmpty {
                for place in [root, root + "/unified"] {
                    least = min(least, lowest(place, path, "memory.max"))
                }
            } else if parts[1].split(separator: ",").contains("memory") {
                least = min(least, lowest(root + "/memory", path, "memory.limit_in_bytes"))
            }
        }
        return least
    }

    /// The lowest limit from the group up to the root: each bounds all below it.
    private static func lowest(_ root: String, _ path: String, _ file: String) -> UInt64 {
        var least = UInt64.max
        var names = path.split(separator: "/")
        while true {
            let group = ([root] + names.map(String.init)).joined(separator: "/")
            // "max", and a group without the file, bound nothing.
            if let limit = UInt64(text("\(group)/\(file)").filter(\.isNumber)) { least = min(least, limit) }
            if names.isEmpty { return least }
            names.removeLast()
        }
    }

    private static func text(_ path: String) -> String {
        guard let contents = try? FileContents(path, limit: 65_536) else { return "" }
        return String(decoding: contents.bytes, as: UTF8.self)
    }
}
