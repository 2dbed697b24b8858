import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayPosix
import RelayRoute

// The ordinary request that is made of one that was sent, whoever's it is.
extension PassThrough {
    /// The objects that the ordinary path would have made of a request by now.
    struct Adopted {
        let wish: Wish
        let admission: Admission
        let execution: Execution
        let outbound: OutboundRequest

        var body: Body { wish.body }
    }

    /// The request of the caller, as the ordinary path's readers understand it.
    struct Wish {
        let method: Method
        let target: String
        let terms: RequestTerms
        let body: Body
    }

    /// Makes them; nil where the ordinary path would have refused the request.
    func adopted(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ wish: Wish,
        _ connection: Connection,
        _ grant: AttemptGrant?,
        _ sending: any RelayRoute.Sending
    ) -> Adopted? {
        let route = unsafe exchange.pointee.entry.route
        let admission = unsafe engine.adopted(
            route,
            id: exchange.pointee.id,
            target: wish.target,
            method: wish.method,
            wish.terms,
            connection.client,
            connection.share
        )
        let adopted = unsafe try? relay.adopt(
            admission.request(wish.body),
            admission.context,
            route.snapshot.vault,
            since: exchange.pointee.began,
            wall: exchange.pointee.wall,
            grant: grant,
            token: exchange.pointee.token,
            sending: sending
        )
        return adopted.map { execution, outbound in
            Adopted(wish: wish, admission: admission, execution: execution, outbound: outbound)
        }
    }

    /// The run of a request that is ordinary from here on: it has what the exchange held.
    func handOver(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ adopted: Adopted,
        _ reason: PromotionReason
    ) -> RequestRun {
        adopted.admission.context.way.write(.promoted(reason))
        let run = unsafe RequestRun(
            adopting: adopted.execution,
            engine,
            adopted.admission,
            relay,
            since: exchange.pointee.began
        )
        unsafe exchange.pointee.grant = nil
        unsafe loan.takeBack(exchange)
        return run
    }

    /// The caller and the journal are told so where a promotion failed.
    static let broken = Problem(
        .internalError,
        "the request was sent, and the relay failed to wait for its answer: what became of it is not known"
    )

    /// No ordinary request can be made of one that was sent: what it held goes back, and its upstream is not judged.
    func broke(_ exchange: UnsafeMutablePointer<PassThroughExchange>, _ connection: Connection) {
        let record = unsafe refused(exchange, connection.client)
        let entry = unsafe exchange.pointee.entry.route.entry
        if let grant = unsafe exchange.pointee.grant {
            unsafe exchange.pointee.grant = nil
            entry.memory.traffic.endedUnjudged(grant, of: entry.route, random: random.next(), loop.now)
        }
        unsafe over(exchange, connection.share)
        relay.ports.sink.record(.requestRefused(record))
    }

    private func refused(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ client: ClientIdentity?
    ) -> RefusedRequest {
        let target = unsafe exchange.pointee.target
        return unsafe RefusedRequest(
            route: exchange.pointee.entry.route.entry.route.name,
            method: PassThroughRecords.methods[Int(exchange.pointee.method)],
            path: String(decoding: target.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self),
            client: client,
            status: Self.broken.status,
            code: Self.broken.code.name,
            detail: Self.broken.detail
        )
    }
}

#if DEBUG
extension PassThrough.Wish {
    /// Whether nothing but passing on is asked for.
    var isPlain: Bool {
        !terms.isLoop && !terms.wantsDurable && terms.durable.idempotencyKey == nil
            && terms.durable.priority == 3
    }
}
#endif
