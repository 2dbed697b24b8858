import Glibc
import RelayServer

extension MetricsText {
    /// Adds the kernel's figures of this process; those that it does not give are left out.
    mutating func addProcess(startedAt: Int64) {
        add(.processStart, startedAt)
        var usage = rusage()
        if unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
            let rest = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
            add(.processCPU, seconds: Double(seconds) + Double(rest) / 1_000_000)
        }
        if let memory = ProcessFigures.memory {
            add(.processVirtual, memory.all)
            add(.processResident, memory.resident)
        }
        // Behind the name, which may hold anything, in parentheses: the 20th field is the 18th from there.
        let fields =
            ProcessFigures.text(of: "/proc/self/stat")
            .split(separator: ")").last?.split(separator: " ") ?? []
        if fields.count > 17, let threads = UInt64(fields[17]) { add(.processThreads, threads) }
        if let open = ProcessFigures.descriptors { add(.processDescriptors, open) }
        if let files = ProcessLimits.descriptors { add(.processMaxDescriptors, files.rlim_cur) }
    }
}

/// The kernel's figures of this process.
enum ProcessFigures {
    /// Bytes of its address space, and of what of it is in memory; nil where the kernel does not say.
    static var memory: (all: UInt64, resident: UInt64)? {
        let pages = text(of: "/proc/self/statm").split(separator: " ").compactMap { UInt64($0) }
        guard pages.count > 1 else { return nil }
        let size = UInt64(sysconf(Int32(_SC_PAGESIZE)))
        return (pages[0] * size, pages[1] * size)
    }

    fileprivate static func text(of path: String) -> String {
        guard let contents = try? FileContents(path, limit: 4_096) else { return "" }
        return String(decoding: contents.bytes, as: UTF8.self)
    }

    /// How many descriptors are open, without the one that is opened to look.
    fileprivate static var descriptors: Int? {
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            if unsafe entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
        }
        return count - 1
    }
}
