extension Metric {
    package static let connections = Metric(
        "waystation_connections",
        .gauge,
        ["listener"],
        "Connections that are open, those that are told they have no place among them.",
        do: "Near limits.max_connections: callers keep too many open."
    )
    package static let connectionsRefused = Metric(
        "waystation_connections_refused",
        .counter,
        "Connections that were turned away for want of a place or of a descriptor.",
        do: "waystation status shows whose they are; see limits.max_connections and per_user."
    )
    package static let httpRequests = Metric(
        "waystation_http_requests",
        .counter,
        ["listener", "code"],
        "Answers that were written, by listener and class of status.",
        do: "For what became of a route's requests see waystation_requests_total."
    )
    package static let memory = Metric(
        "waystation_memory_bytes",
        .gauge,
        "Bytes that bodies take in memory.",
        do:
            "Bodies of requests have half of the limit, and are refused as overloaded without room in it; near the limit "
            + "answers wait for room: raise limits.memory, or see who sends that much."
    )
    package static let memoryLimit = Metric(
        "waystation_memory_limit_bytes",
        .gauge,
        "Bytes that bodies may take in memory (limits.memory).",
        do: "It moves with the configuration alone."
    )
    package static let sheddingLevel = Metric(
        "waystation_shedding_level",
        .gauge,
        "What is refused because memory is short: 0 nothing, 1 urgencies 4 to 7, 2 urgencies 3 to 7, 3 everything.",
        do: "waystation status says why; give the unit more memory, or send less."
    )
    package static let shed = Metric(
        "waystation_shed_requests",
        .counter,
        "Requests that were refused because memory was short.",
        do: "As of waystation_shedding_level."
    )
    package static let wouldShed = Metric(
        "waystation_shed_requests_would_have",
        .counter,
        "Requests that would have been refused because memory was short, where limits.shedding only reports.",
        do: "As of waystation_shedding_level."
    )
    package static let constrained = Metric(
        "waystation_constrained",
        .gauge,
        "Whether the network counts as constrained.",
        do: "waystation constrained says why."
    )
    package static let start = Metric(
        "waystation_start_timestamp_seconds",
        .gauge,
        "When the daemon started; what it counts it has counted since.",
        do: "As process_start_time_seconds, and told to a textfile collector too."
    )
    package static let journalLost = Metric(
        "waystation_journal_lost_records",
        .counter,
        "Records for which there was no room while the journal took none.",
        do: "See systemd-journald; what happened stands in the jobs themselves."
    )
    package static let journalBlocked = Metric(
        "waystation_journal_blocked_seconds",
        .gauge,
        "How long the journal has not taken the record at hand.",
        do: "Above a few seconds: systemctl status systemd-journald."
    )
    package static let reloads = Metric(
        "waystation_config_reloads",
        .counter,
        ["result"],
        "Reloads of the configuration, by whether the new one was taken.",
        do: "failure: waystation check FILE."
    )
    package static let reloadSuccessful = Metric(
        "waystation_config_last_reload_successful",
        .gauge,
        "Whether the configuration was taken when it was last read.",
        do: "0: the old one is in force; waystation check FILE, mend it, waystation reload."
    )
    package static let reloadTime = Metric(
        "waystation_config_last_reload_success_timestamp_seconds",
        .gauge,
        "When the configuration in force was read.",
        do: "Older than the file: reload."
    )
    package static let configInfo = Metric(
        "waystation_config_info",
        .gauge,
        ["file", "digest"],
        "Always 1: the file the configuration comes from, and the SHA-256 of what is in force.",
        do: "Machines that should be alike have the same digest."
    )
    package static let buildInfo = Metric(
        "waystation_build_info",
        .gauge,
        ["version"],
        "Always 1: the version of the daemon.",
        do: "For telling machines apart."
    )

    static let service = [
        connections, connectionsRefused, httpRequests, memory, memoryLimit, sheddingLevel, shed, wouldShed,
        constrained,
        start, journalLost, journalBlocked, reloads, reloadSuccessful, reloadTime, configInfo, buildInfo,
    ]
}
