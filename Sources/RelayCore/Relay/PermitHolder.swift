package import RelayBase

/// The holder of the permit to be with the upstream that a request needs, and that others may have meanwhile.
package protocol PermitHolder: AnyObject {
    /// The request is done with its upstream, or is until the next look.
    func giveBackPermit()

    /// Waits for a permit again, at most until that moment.
    ///
    /// - Returns: whether there is one.
    func regainPermit(before deadline: Instant) async -> Bool

    /// Nobody waits for the request any more, which keeps neither permit nor key from others.
    func giveUp()
}
