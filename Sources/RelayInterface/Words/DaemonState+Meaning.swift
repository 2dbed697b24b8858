extension Word {
    /// How the daemon is doing.
    static let daemonStates: KeyValuePairs<String, String> = [
        "serving": """
        The daemon takes requests.
        Do: No action is needed.
        """,
        "reload_failed": """
        The daemon takes requests with its old configuration: the new one was refused.
        Causes: A mistake in the file; a secret or certificate that cannot be read.
        Do: See waystation status; correct the file, then waystation reload.
        """,
        "draining": """
        The daemon is stopping: it ends what is under way and takes nothing new.
        Do: Wait; kept jobs go on after its next start.
        """,
    ]

    /// How the job store is doing.
    static let storeStates: KeyValuePairs<String, String> = [
        "ok": """
        There is room for jobs.
        Do: No action is needed.
        """,
        "full": """
        There is no room for jobs: none is accepted, or a large one was refused within the last ten seconds. Kept jobs \
        are delivered, unless a start finds no room even for that.
        Causes: storage.max_size is reached, or the disk is full.
        Do: Free space on the disk, raise storage.max_size, or drop jobs; acceptance comes back by itself.
        """,
        "stalled": """
        The disk of the job store takes no writes: no job is accepted, and none ends.
        Causes: A failing disk, or one that others keep busy; network storage that is away.
        Do: Look at the disk and at the kernel's log; it goes on by itself when writes do.
        """,
        "gone": """
        Somebody removed or replaced a file of the job store: no job is accepted or delivered, which the next \
        start would not find.
        Causes: Somebody cleans the state directory, or restores a backup under a relay that runs.
        Do: Move the files back; deleted ones are in /proc/PID/fd while the relay runs. Or stop the relay, restore a \
        backup and start it.
        """,
        "unavailable": """
        The server that holds the job store is away: no job is accepted, and none ends, until it is back.
        Causes: The database is stopped, restarts or fails over; it has no connection left; the network between is down.
        Do: See the database and the way to it; the relay goes on by itself.
        """,
    ]
}
