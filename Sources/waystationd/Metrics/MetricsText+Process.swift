import Glibc
import RelayServer
import RelaySystemd

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
        if let threads = ProcessFigures.threads { add(.processThreads, threads) }
        if let open = ProcessFigures.descriptors { add(.processDescriptors, open) }
        if let files = ProcessLimits.descriptors { add(.processMaxDescriptors, files.rlim_cur) }
    }
}
