package import RelayBase
package import RelayRoute

extension RouteTraffic {
    /// The head of an answer that is passed through is there, and its content is still on its way.
    package func answeringPlainly(
        _ grant: AttemptGrant,
        asked: () -> RequestClass?,
        of route: Route,
        random: UInt64,
        _ now: Int64
    ) -> BreakerChange? {
        var word = AttemptFeedback()
        (word.breaker, word.window, word.succeeded) = (.works, .fine, true)
        return answering(grant, word, asked: asked, of: route, random: random, Instant(nanoseconds: now))
    }

    /// That content has come to its end; `asked` is the request's class, which counts where it did not come whole.
    package func answerEndedPlainly(
        _ grant: AttemptGrant,
        _ end: AnswerEnd,
        _ asked: RequestClass?,
        of route: Route,
        random: UInt64,
        _ now: Int64
    ) -> BreakerChange? {
        let now = Instant(nanoseconds: now)
        if !end.isBroken, answerEndedWell(grant, now) { return nil }
        let word = AttemptFeedback(end, of: nil, on: route)
        return answerEnded(grant, word, asked: { asked }, of: route, random: random, now)
    }

    /// Leave for a first attempt at the first upstream where nothing holds it back; nil where there is more to ask.
    package func grantPlainly(_ route: Route, _ now: Int64) -> AttemptGrant? {
        grantCalmly(route, Instant(nanoseconds: now))
    }
}

extension Relay {
    /// The ordinary execution of a request that was passed through, as if it had been one all the time: its first
    /// attempt was sent at `began`, with that leave.
    ///
    /// `token` is the credential that it was sent with, `began` is monotonic, in nanoseconds, and `wall` in milliseconds since 1970 UTC.
    package func adopt(
        _ request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault,
        since began: Int64,
        wall: Int64,
        grant: AttemptGrant?,
        token: Token?,
        sending: any Sending
    ) throws(Failure) -> (Execution, OutboundRequest) {
        let moment = Moment(now: Instant(nanoseconds: began), wall: wall)
        // Without a name it is not copied.
        let execution = Execution(
            try ExecutionMachine(
                request,
                context,
                added: addedFields(for: request),
                canRefresh: canRefresh(context.route, vault),
                since: moment.now,
                moment
            ),
            ports: ports,
            vault: vault
        )
        execution.pending = sending
        execution.machine.granted()
        if let token { execution.machine.obtained(token, moment) }
        let outbound = try execution.machine.outbound(moment, signer: ports.signer)
        // Until here the caller gives it back.
        execution.grant = grant
        return (execution, outbound)
    }
}

#if DEBUG
extension Execution {
    /// Whether that answer to the request that was sent ends it.
    package func ends(with inbound: InboundResponse) -> Bool {
        machine.received(inbound, moment)
        advance()
        if case .ended = machine.driverStep { return true }
        return false
    }
}
#endif
