import Glibc

/// The kernel's figures of this process.
package enum ProcessFigures {
    /// Bytes of its address space, and of what of it is in memory; nil where the kernel does not say.
    package static var memory: (all: UInt64, resident: UInt64)? {
        let pages = text(of: "/proc/self/statm").split(separator: " ").compactMap { UInt64($0) }
        guard pages.count > 1 else { return nil }
        let size = UInt64(sysconf(Int32(_SC_PAGESIZE)))
        return (pages[0] * size, pages[1] * size)
    }

    package static var threads: UInt64? {
        // Behind the name, which may hold anything, in parentheses: the 20th field is the 18th from there.
        let fields = text(of: "/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 17 ? UInt64(fields[17]) : nil
    }

    private static func text(of path: String) -> String {
        guard let contents = try? FileContents(path, limit: 4_096) else { return "" }
        return String(decoding: contents.bytes, as: UTF8.self)
    }

    /// How many descriptors are open, without the one that is opened to look.
    package static var descriptors: Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            if unsafe entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
        }
        return count - 1
    }
}
