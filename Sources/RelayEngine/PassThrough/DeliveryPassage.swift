package import RelayBase
package import RelayCore
package import RelayJobs
package import RelayRoute

/// A loop on which kept jobs are delivered.
package struct DeliveryLoop: Sendable {
    package let relay: Relay
    /// Nil where every delivery is an ordinary one.
    package let passage: (any DeliveryPassage)?

    package init(_ relay: Relay, _ passage: (any DeliveryPassage)? = nil) {
        self.relay = relay
        self.passage = passage
    }
}

/// Passes the requests of kept jobs through on one loop; used on its thread alone.
package protocol DeliveryPassage: Sendable {
    /// Sends the job's first attempt at once.
    ///
    /// - Returns: false, having done nothing, where it is not plain, or something would have to be waited for.
    func begin(_ claim: Claim, _ body: [UInt8], for receiver: any DeliveryReceiver) -> Bool

    /// The fields of an answer that belong to the message.
    func fields(of answer: PassThroughAnswer) -> HeaderFields

    #if DEBUG
    /// Whether each delivery is also made the ordinary way, and the process ends at the first difference.
    var checks: Bool { get }
    #endif
}

/// The run of a kept job whose request is passed through.
package protocol DeliveryReceiver: PassThroughReceiver {
    /// Its request is about to be sent.
    func begunPassing(_ delivery: PassedDelivery)

    #if DEBUG
    /// The request that the ordinary path would have sent; nil where it would have refused it.
    func rebuilt() -> OutboundRequest?
    #endif
}

/// The request of a kept job that is passed through, as plain values.
package struct PassedDelivery: Sendable {
    package var route: PassThroughRoute
    /// When it was sent: on the monotonic clock in nanoseconds, and in milliseconds since 1970 UTC.
    package var began: Int64
    package var wall: Int64
    package var grant: AttemptGrant?
    /// The credential that it was sent with.
    package var token: Token?
    /// Ends it.
    package var sending: any Sending

    package init(
        _ route: PassThroughRoute,
        began: Int64,
        wall: Int64,
        grant: AttemptGrant?,
        token: Token?,
        sending: any Sending
    ) {
        self.route = route
        self.began = began
        self.wall = wall
        self.grant = grant
        self.token = token
        self.sending = sending
    }
}
