import RelayBase
import RelayJSON

extension ConfigurationTable {
    static var storage: Section<StorageSettings> {
        Section("storage", "Where jobs are kept, and for how long.", of: StorageSettings()) {
            Field("directory", .absolutePath, \.directory) {
                "A directory of the relay's own. The one in STATE_DIRECTORY, which StateDirectory= of the unit sets, takes "
                    + "its place. A change takes effect at a restart."
            }
            Field("postgresql", postgresql.kind, \.postgresql) {
                "The database in which several daemons keep their jobs; without the key they are kept in the directory, "
                    + "which always has the relay's lock, its copies of requests and its tokens. A change takes effect at "
                    + "a restart."
            }
            Field("shared_users", .boolean, \.sharesUsers) {
                "Whether a user's number means the same user on every machine of the fleet. Without it the jobs of a user are "
                    + "those of this machine. A change takes effect at a restart."
            }
            Field("sync", .word(), \.sync) {
                "Whether a job is on the disk before 202 is sent: full waits for the disk, off does not, so that a "
                    + "power cut takes what was accepted last. A change takes effect at a restart."
            }
            Field(
                "max_size",
                ValueKind<Int>.size(64 << 20...16_384 << 30).map({ UInt64($0) }, back: { Int($0) }),
                \.maxSize
            ) {
                "How much of the disk jobs may take; while they take more, another is answered 507 storage_full and "
                    + "deliveries go on."
            }
            Field("retention", retention.kind, \.retention) { "How long what is over is kept." }
        } check: { storage, node, reading in
            checkFleet(node, &reading)
            guard storage.sync == .off else { return }
            reading.warn(
                "202 then does not mean that a job survives a power cut",
                at: node.location("sync"),
                hint: "write \"full\""
            )
        }
    }

    /// The keys that have no meaning where a database keeps the jobs, and those that have one there alone.
    private static func checkFleet(_ node: JSONNode, _ reading: inout ReadContext) {
        guard node["postgresql"] != nil else {
            if node["shared_users"] != nil {
                reading.error(
                    "\"shared_users\" means nothing without \"postgresql\"",
                    at: node.location("shared_users")
                )
            }
            return
        }
        let hints = [
            "sync": "the database says when a commit is on disk: synchronous_commit",
            "max_size": "the database's own disk bounds it, and limits.max_queued_jobs the jobs",
        ]
        for (key, hint) in hints where node[key] != nil {
            reading.error(
                "\"\(key)\" means nothing beside \"postgresql\"",
                at: node.location(key),
                hint: hint
            )
        }
    }

    private static var retention: Section<Retention> {
        let range: ClosedRange<Duration> = .seconds(1) ... .seconds(3650 * 86_400)
        return Section("retention", "How long what is over is kept.", of: Retention()) {
            Field("succeeded", .duration(range), \.succeeded) { "Jobs that were delivered." }
            Field("dead", .duration(range), \.dead) {
                "Jobs that were given up, cancelled, or ran out of time; to be retried they need their requests, too "
                    + "(bodies)."
            }
            Field("bodies", .duration(range), \.bodies) {
                "The requests and answers of jobs that are over. A job without its request can no longer be retried."
            }
        }
    }
}
