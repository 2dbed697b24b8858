import Glibc

/// What the process asks of the kernel for itself.
enum ProcessLimits {
    /// As many descriptors as are allowed, and no core file: it would hold the secrets.
    static func apply() {
        var files = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(7), &files) == 0 {
            files.rlim_cur = files.rlim_max
            unsafe setrlimit(__rlimit_resource_t(7), &files)
        }
        var core = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(4), &core)
    }

    /// Cores this process may use.
    static var cores: Int { max(1, min(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 64)) }
}
