package import RelayBase
import RelayJobs
import RelayRoute

extension Execution {
    /// Has the upstream stop the operation of a caller that went away.
    @inline(never)
    func stopOperation() async {
        guard let stop = machine.takeStop(moment) else { return }
        // In a task of its own: that the job was abandoned must not cut it short.
        let (ports, vault) = (ports, vault)
        guard let attempt = await ports.begin({ await stop.send(ports, vault) }).value() else { return }
        machine.stopped(attempt)
        ports.sink.record(.lookedUp(context, attempt))
    }
}

extension Relay {
    /// Has the upstream stop the operation that goes on of a kept job, whose cancellation is on disk.
    ///
    /// - Returns: the record of that; nil where no operation goes on, or its route tells the upstream nothing.
    package func stopOperation(
        of request: HTTPRequest,
        _ context: JobContext,
        _ vault: CredentialVault
    ) async -> Attempt? {
        let upstreams = context.route.policy.upstreams
        guard let rules = context.route.follow, rules.settings.cancel != nil,
            let operation = context.history?.operation, let index = operation.index(among: upstreams),
            rules.settings.mayAsk(operation.target, of: upstreams[index]),
            let looks = try? Preparation(looking: request, rules, context, addedFields(for: request), ports)
        else { return nil }
        let machine = RecoveryMachine(
            route: context.route,
            method: context.method,
            options: context.options,
            now: ports.time.now(),
            history: context.history
        )
        let follow = Follow(rules: rules, operation: operation, preparation: looks, upstreamIndex: index)
        let stop = OperationStop(
            context,
            follow,
            machine.stopPlan(upstreamIndex: index, at: ports.time.now())
        )
        let attempt = await stop.send(ports, vault)
        context.memory.meter.looked(attempt.word)
        ports.sink.record(.lookedUp(context, attempt))
        return attempt
    }
}

extension Preparation {
    /// A look for the job of that request, of which nothing but its caller's own credential is needed.
    fileprivate init(
        looking request: HTTPRequest,
        _ rules: FollowRules,
        _ context: JobContext,
        _ added: HeaderFields,
        _ ports: RelayPorts
    ) throws(Failure) {
        var fields = HeaderFields()
        if let own = context.route.callersCredential(request.fields) { fields.append("Authorization", own) }
        try self.init(
            HTTPRequest(method: .get, target: "", fields: fields),
            route: rules.asking,
            job: context.id,
            added: added,
            wallSeconds: ports.moment.wallSeconds
        )
    }
}
