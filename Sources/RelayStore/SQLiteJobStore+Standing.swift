package import RelayBase
package import RelayJobs
package import RelayPosix

// How it stands, told at once and from anywhere.
extension SQLiteJobStore {
    package func facts() async throws(StoreError) -> StoreFacts { standing }

    /// The facts as of the last transaction, at once and from anywhere.
    package var standing: StoreFacts { shared.facts }

    /// Of the threads that write.
    package var activities: [Activity] { [shared.activity, fileThread.activity] }

    /// Of the thread that reads.
    package var reading: Activity { reader.activity }

    package func writing(at now: Instant) -> Duration {
        // On the way of every job: an array of the two would be made for each.
        let (writer, files) = (shared.activity, fileThread.activity)
        return .nanoseconds(max(writer.duration(at: now.nanoseconds), files.duration(at: now.nanoseconds)))
    }

    /// Sets how many bytes may be in use, from the next transaction on.
    package func setMaxSize(_ bytes: UInt64) { shared.setMaxBytes(bytes) }
}
