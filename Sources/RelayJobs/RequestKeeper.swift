package import RelayBase

/// Makes a kept job of a request whose caller is answered in the upstream's stead.
package protocol RequestKeeper: AnyObject, Sendable {
    /// Returns once the job is on disk, or is known not to come there in time.
    ///
    /// - Parameters:
    ///   - body: the request's, from its beginning.
    ///   - past: what was tried for it so far.
    /// - Returns: which job goes on with it, or why none does.
    func keep(_ body: Body, _ past: PriorAttempts) async -> KeepAnswer
}

/// The result for a request that was to be kept.
package enum KeepAnswer: Sendable {
    case kept(KeptJobName)
    /// In words that are safe to show.
    case refused(String)
}
