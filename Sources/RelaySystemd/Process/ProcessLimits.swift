import CLinux
package import Glibc
import RelayPosix

/// The settings that the process asks of the kernel for itself.
package enum ProcessLimits {
    /// As many descriptors as are allowed, and no look into the memory that holds the secrets: no core file, not
    /// even one that is piped to a program, which no limit of size keeps from being made, and no debugger of the
    /// same user.
    package static func apply() {
        if var files = descriptors {
            files.rlim_cur = files.rlim_max
            unsafe setrlimit(__rlimit_resource_t(7), &files)
            DescriptorReserve.ofProcess.setAside(of: UInt64(files.rlim_cur))
        }
        var core = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(4), &core)
        _ = relay_forbid_dump()
        relay_set_up_memory()
        // The daemon's files are for it alone; the mode and the group of a socket are set on the socket itself.
        umask(0o077)
    }

    /// How many descriptors the process may have.
    package static var descriptors: rlimit? {
        var files = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(7), &files) == 0 ? files : nil
    }

    /// Gives free memory back to the system; takes some milliseconds.
    package static func trimMemory() { _ = malloc_trim(0) }

    /// Lets go of the pages of program and libraries that only the start needed: half of what is resident then.
    package static func releaseStartPages() { _ = relay_release_start_pages() }

    /// Cores this process may use.
    package static var cores: Int { max(1, min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 64)) }
}
