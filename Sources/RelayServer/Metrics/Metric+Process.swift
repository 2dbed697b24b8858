// The names that Prometheus' own clients use.
extension Metric {
    package static let processCPU = Metric(
        "process_cpu_seconds",
        .counter,
        "User and system time of the process.",
        do: "One for each second is one core."
    )
    package static let processResident = Metric(
        "process_resident_memory_bytes",
        .gauge,
        "Resident memory of the process, pages of its program among it.",
        do: "Near MemoryMax= of the unit new work is refused: waystation_shedding_level."
    )
    package static let processVirtual = Metric(
        "process_virtual_memory_bytes",
        .gauge,
        "Address space of the process.",
        do: "It says nothing of memory that is used."
    )
    package static let processDescriptors = Metric(
        "process_open_fds",
        .gauge,
        "Open file descriptors.",
        do: "Near process_max_fds callers are turned away: LimitNOFILE= of the unit."
    )
    package static let processMaxDescriptors = Metric(
        "process_max_fds",
        .gauge,
        "File descriptors the process may have.",
        do: "LimitNOFILE= of the unit."
    )
    package static let processStart = Metric(
        "process_start_time_seconds",
        .gauge,
        "When the process started.",
        do: "It moves at each restart: systemctl status waystationd."
    )
    package static let processThreads = Metric(
        "process_threads",
        .gauge,
        "Threads of the process.",
        do: "They are as many as its loops and a few more."
    )

    static let process = [
        processCPU, processResident, processVirtual, processDescriptors, processMaxDescriptors, processStart,
        processThreads,
    ]
}
