package import RelayBase
import RelayJSON
package import RelayRoute

/// The unprepared request of a job, from which every attempt is made afresh.
package struct Preparation: Sendable {
    package let method: Method
    let target: String
    private let fields: HeaderFields
    private let jobFields: HeaderFields
    package let body: Body
    /// Whether repeating the request is safe because it carries a key.
    package let isKeyed: Bool

    private let route: Route
    private let job: JobID

    /// Does what is done once a job.
    ///
    /// - Throws: `preparation`, final, with zero sends.
    package init(
        _ request: HTTPRequest,
        route: Route,
        job: JobID,
        added: HeaderFields,
        wallSeconds: Int64
    ) throws(Failure) {
        self.route = route
        self.job = job
        method = request.method
        target = request.target
        var fields = request.fields
        var jobFields = added
        if fields.contains(.userAgent) { jobFields.remove(.userAgent) }
        for name in route.policy.request.removeFields { fields.remove(name) }
        if let authentication = route.policy.authentication { fields.remove(authentication.fieldName) }
        for (name, value) in route.policy.request.setFields { replace(name, value, &fields, &jobFields) }
        route.fill(.job, job, attempt: 1, wallSeconds, &fields, &jobFields)
        if !route.policy.idempotency.forwards { fields.remove(.idempotencyKey) }
        moveKey(to: route, &fields, &jobFields)
        if route.policy.idempotency.generates, !fields.contains(route.keyField),
            !jobFields.contains(route.keyField)
        {
            jobFields.append(route.policy.idempotency.header, job.description)
        }
        if route.policy.signing != nil {
            for name in WebhookSigning.fieldNames {
                fields.remove(name)
                jobFields.remove(name)
            }
        }
        // The id that goes with a signature is the job's own, and stays.
        isKeyed =
            route.policy.signing != nil
            || route.keyFields.contains { fields.hasValue($0) || jobFields.hasValue($0) }
        body = try Preparation.wrap(request.body, route.policy.request.wrap)
        if route.policy.request.wrap != nil { fields.remove(.contentEncoding) }
        self.fields = fields
        self.jobFields = jobFields
    }

    /// The values of the fields that make repeating the request safe.
    package var keys: [String] {
        isKeyed ? route.keyFields.flatMap { fields.values($0) + jobFields.values($0) } : []
    }

    /// A field of every attempt; nil where it has none of that name, or an empty one.
    func value(of name: FieldName) -> String? {
        [jobFields[name], fields[name]].lazy.compactMap(\.self).first { !$0.isEmpty }
    }

    /// The credential that the caller sends along, as it came; nil where it sends none.
    var callersCredential: String? { fields[.authorization] }

    /// One attempt, made from the unprepared request.
    package func attempt(
        _ plan: RecoveryMachine.Plan,
        token: Token?,
        wallSeconds: Int64,
        redirect: Redirect? = nil,
        signer: (any MessageSigner)? = nil,
        log: (any AttemptLog)? = nil
    ) throws(Failure) -> OutboundRequest {
        var fields = fields
        var added = jobFields
        route.fill(.attempt, job, attempt: plan.number, wallSeconds, &fields, &added)
        if let authentication = route.policy.authentication, let token {
            // Left out it would send the request without its credential.
            guard let value = authentication.headerValue(token),
                added.append(authentication.headerName, value)
            else {
                throw .credentialsFailed(
                    "the credential \"\(authentication.credential)\" cannot stand in a field: it is not UTF-8 or has"
                        + " control characters"
                )
            }
        }
        var limits = route.policy.limits
        if route.inspectsBody {
            // A body that is looked into must be readable, whatever coding the caller would have taken; a part of a
            // coded answer is not.
            limits.decodesContent = true
            fields.remove(.acceptEncoding)
            if !added.contains(.acceptEncoding) {
                added.append("Accept-Encoding", fields.contains(.range) ? "identity" : "gzip, deflate")
            }
        }
        let keepsBody = redirect?.keepsBody ?? true
        if !keepsBody {
            fields.remove(.contentType)
            fields.remove(.contentEncoding)
        }
        let content = keepsBody ? body.fresh : .empty
        if let settings = route.policy.signing {
            let signature = WebhookSigning(id: job.description, wallSeconds: wallSeconds)
            try signature.sign(content, with: settings, by: signer, into: &added)
        }
        return OutboundRequest(
            upstream: plan.upstream,
            method: redirect?.method ?? method,
            target: try route.policy.request.query.merged(
                into: redirect?.target ?? plan.upstream.basePath + target
            ),
            fields: fields,
            addedFields: added,
            body: content,
            deadline: plan.deadline,
            timeouts: AttemptTimeouts(route.policy.timeouts),
            limits: limits,
            isRepeatable: isKeyed || (redirect?.method ?? method).isIdempotent,
            timeLimit: plan.limit,
            log: log,
            end: plan.end,
            keepsTrace: route.policy.request.propagation == .none
        )
    }

    private static func wrap(_ body: Body, _ pointer: JSONPointer?) throws(Failure) -> Body {
        guard let pointer else { return body }
        if case .stream = body {
            throw .preparation("request.wrap needs the body in memory, not a stream")
        }
        guard case .bytes(let bytes) = body else { return body }
        guard !bytes.isEmpty else { return .empty }
        guard (try? JSONScan.locate([], in: bytes.span)) != nil else {
            throw .preparation("request.wrap needs a JSON body, and the request's is not JSON")
        }
        return .bytes(pointer.wrap(bytes))
    }
}

extension AttemptTimeouts {
    fileprivate init(_ timeouts: Timeouts) {
        self.init(connect: timeouts.connect, idle: timeouts.idle)
        minRate = timeouts.minRate
    }
}

/// Puts a field into `added` and takes every other of that name away.
private func replace(
    _ name: String,
    _ value: String,
    _ fields: inout HeaderFields,
    _ added: inout HeaderFields
) {
    guard let key = FieldName(name) else { return }
    fields.remove(key)
    added.set(name, value)
}

extension Route {
    /// The credential that a caller's request keeps on its way to the upstream; nil where it has none, or the route's own
    /// takes its place.
    package func callersCredential(_ fields: HeaderFields) -> String? {
        let rules = policy.request
        guard policy.authentication?.fieldName != .authorization,
            !rules.removeFields.contains(.authorization),
            !rules.setFields.contains(where: { FieldName($0.name) == .authorization })
        else { return nil }
        return fields[.authorization]
    }

    /// Sets the fields of that phase's steps.
    fileprivate func fill(
        _ phase: PreparationPhase,
        _ job: JobID,
        attempt: Int,
        _ wallSeconds: Int64,
        _ fields: inout HeaderFields,
        _ added: inout HeaderFields
    ) {
        for step in policy.prepare where step.phase == phase {
            for (field, template) in step.fields {
                let value = template.text(route: name, job: job, attempt: attempt, wallSeconds: wallSeconds)
                replace(field, value, &fields, &added)
            }
        }
    }
}

/// Gives the caller's key the name under which the upstream looks for one; a field of that name that is there goes
/// before, so that no request has two keys.
private func moveKey(to route: Route, _ fields: inout HeaderFields, _ added: inout HeaderFields) {
    let name = route.keyField
    guard fields.hasValue(.idempotencyKey), name != .idempotencyKey else { return }
    if !fields.hasValue(name), !added.hasValue(name) {
        fields.remove(name)
        for key in fields.values(.idempotencyKey) { added.append(route.policy.idempotency.header, key) }
    }
    fields.remove(.idempotencyKey)
}

extension FieldTemplate {
    fileprivate func text(route: String, job: JobID, attempt: Int, wallSeconds: Int64) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .jobID: job.description
            case .now: String(decoding: IMFDate.format(wallSeconds), as: UTF8.self)
            case .attempt: String(attempt)
            case .route: route
            }
        }.joined()
    }
}
