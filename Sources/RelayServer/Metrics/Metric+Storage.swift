import RelayBase

extension Metric {
    package static let storeState = Metric(
        "waystation_store_state",
        .gauge,
        ["state"],
        "1 for the state the job store is in, 0 for the others.",
        do:
            "full: make room or raise storage.max_size. stalled: look at the disk. unavailable: look at the database."
    )
    package static let storeInfo = Metric(
        "waystation_store_info",
        .gauge,
        ["directory"],
        "Always 1: where the job store is.",
        do: "Look at the disk below it: df, and the kernel's log."
    )
    package static let storeBytes = Metric(
        "waystation_store_bytes",
        .gauge,
        "Bytes of the job store in use, bodies in files included.",
        do: "Near the limit: waystation shape, and retention of the storage section."
    )
    package static let storeLimit = Metric(
        "waystation_store_limit_bytes",
        .gauge,
        "Bytes of the job store beyond which no job is accepted (storage.max_size).",
        do: "It moves with the configuration alone."
    )
    package static let storeDiskSize = Metric(
        "waystation_store_disk_size_bytes",
        .gauge,
        "Bytes of the file system that the job store is on.",
        do: "Together with what is available: how full the disk is."
    )
    package static let storeDiskAvailable = Metric(
        "waystation_store_disk_available_bytes",
        .gauge,
        "Bytes of that file system that may still be written, by the store as by others; not told where the disk does not.",
        do: "Near nothing no job is accepted: make room (df, du -xh), or give the store a disk of its own."
    )
    package static let storeCommits = Metric(
        "waystation_store_commits",
        .counter,
        "Transactions about jobs that reached the disk.",
        do: "Together with the operations: how many share one."
    )
    package static let storeOperations = Metric(
        "waystation_store_operations",
        .counter,
        "Jobs accepted, claims, settlements and actions in those transactions.",
        do: "Together with the commits: how many share one."
    )
    package static let storeCommitDuration = Metric(
        "waystation_store_commit_duration_seconds",
        .histogram,
        [],
        "How long transactions took to get to the disk.",
        do: "Seconds: the disk is slow or busy, and every kept request waits for it.",
        .commit
    )
    package static let storeErrors = Metric(
        "waystation_store_errors",
        .counter,
        ["kind"],
        "What the job store could not do: full (jobs refused for want of room), slow (a read took too long), failed (the disk), "
            + "corrupt (a damaged record was met), unavailable (its server was away), unknown (its confirmation was lost).",
        do: "See the journal; failed ends the daemon, and its next start finds what was accepted."
    )
    package static let storeCorrupt = Metric(
        "waystation_store_corrupt_records",
        .counter,
        "Records found damaged.",
        do: "The disk lies or was written to by others: journalctl -u waystationd -p err."
    )
    package static let storeLog = Metric(
        "waystation_store_log_bytes",
        .gauge,
        "Bytes of the store's write-ahead log on disk.",
        do: "It goes back by itself; growth for long means that something reads all the time."
    )
    package static let leaseAge = Metric(
        "waystation_store_lease_age_seconds",
        .gauge,
        "Seconds since this node's lease in a fleet's database was last renewed.",
        do:
            "Above a third of storage.postgresql.lease the database is slow or away; above nine tenths nothing is sent."
    )
    package static let lease = Metric(
        "waystation_store_lease_seconds",
        .gauge,
        "Seconds for which a renewal of this node's lease holds (storage.postgresql.lease).",
        do: "It moves with the configuration alone."
    )
    package static let databaseConnections = Metric(
        "waystation_store_connections",
        .gauge,
        "Connections of this node to a fleet's database.",
        do: "At storage.postgresql.connections for long: the database is slow, or jobs need more of them."
    )
    package static let databaseConnects = Metric(
        "waystation_store_connects",
        .counter,
        "Connections that were made to a fleet's database.",
        do: "Many: something between ends them; see the database's log."
    )
    package static let roundTrips = Metric(
        "waystation_store_round_trips",
        .counter,
        "Replies of a fleet's database that were waited for.",
        do: "Together with the operations: how many share one."
    )
    package static let putAside = Metric(
        "waystation_store_put_aside",
        .counter,
        "Jobs that batches went on without: a fleet's database refused their rows alone, or has what is not theirs.",
        do: "The journal names each and the database's reason; a schema that others changed refuses many."
    )
    package static let snapshotAge = Metric(
        "waystation_store_snapshot_age_seconds",
        .gauge,
        "Seconds for which the oldest snapshot in a fleet's database has been seen.",
        do: "Minutes: waystation status names the session; the database gives no room back until it ends."
    )
    package static let notificationQueue = Metric(
        "waystation_store_notification_queue_ratio",
        .gauge,
        "The share of the database's queue of notifications that is in use.",
        do: "Growing: a session listens within a transaction, and at 1 every NOTIFY fails; end it."
    )
    package static let spool = Metric(
        "waystation_spool_bytes",
        .gauge,
        "Bytes of request bodies copied to disk while they are under way.",
        do: "Near the limit, larger bodies are sent once only."
    )
    package static let spoolLimit = Metric(
        "waystation_spool_limit_bytes",
        .gauge,
        "Bytes such copies may take.",
        do: "It moves with the configuration alone."
    )

    static let storage = [
        storeState, storeInfo, storeBytes, storeLimit, storeDiskSize, storeDiskAvailable, storeCommits,
        storeOperations, storeCommitDuration, storeErrors, storeCorrupt, storeLog, leaseAge, lease,
        databaseConnections, databaseConnects, roundTrips, putAside, snapshotAge, notificationQueue, spool,
        spoolLimit,
    ]
}
