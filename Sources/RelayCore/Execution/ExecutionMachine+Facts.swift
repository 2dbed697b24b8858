package import RelayBase
import RelayJobs
package import RelayRoute

// The questions that a driver asks of the step it is at.
extension ExecutionMachine {
    /// The attempt, made from the unprepared request; mutating, so that the machine is not copied for it.
    package mutating func outbound(
        _ moment: Moment,
        signer: (any MessageSigner)?
    ) throws(Failure) -> OutboundRequest {
        guard moment.now < plan.deadline else {
            throw Failure(
                .httpResponseTimeout,
                sent: .neverSent,
                "the attempt's time was over before the request was sent"
            )
        }
        return try preparation.attempt(
            plan,
            token: token,
            wallSeconds: moment.wallSeconds,
            redirect: redirect,
            signer: signer,
            log: context.history?.log
        )
    }

    /// Whether the attempt can be sent without a task: all of its content is in memory, and no second sending may be due.
    ///
    /// Mutating, so that the machine is not copied for it.
    var isPrompt: Bool {
        mutating get { preparation.body.isAtHand && !(context.route.hedges && mayHedge) }
    }

    /// The next turn of its driver, without the values that only that turn needs.
    package enum DriverStep {
        /// `send` or `token`, which may need no waiting.
        case send, token
        /// A moment.
        case pause
        /// A step that only a task can wait for.
        case wait
        /// A step that the driver answers at once.
        case answer
        case ended
    }

    /// Mutating, so that the machine is not copied for it.
    package var driverStep: DriverStep { mutating get { step.driverStep } }

    /// Whether there is nothing to tell or to answer before what the step waits for; mutating like `driverStep`.
    var isQuiet: Bool {
        mutating get {
            // A comparison would copy the word.
            guard notes.isEmpty, case nil = feedback else { return false }
            return driverStep != .answer
        }
    }

    /// The attempt under way with what its answer says; what observers are told.
    package func attempt(answered inbound: InboundResponse, _ moment: Moment) -> Attempt? {
        guard var attempt = recovery.attempts.last else { return nil }
        attempt.duration = recovery.timeTaken(at: moment.now)
        attempt.status = inbound.response.status
        attempt.exchange = inbound.exchange
        return attempt
    }

    /// The request as the program gave it.
    package var unprepared: HTTPRequest? { program?.request }

    /// The attempts and the time that are left of the job, for a strategy.
    package func left(_ moment: Moment) -> RecoveryContext {
        RecoveryContext(
            attempt: plan.number,
            attemptsLeft: recovery.attemptsLeft,
            timeLeft: moment.now.duration(to: recovery.deadline),
            route: context.route.name
        )
    }

    /// The key of a kept answer that may stand in, and how old it may be.
    package var stale: (key: AnswerKey, maxAge: Duration)? {
        guard context.route.answersStale, let rule = context.route.policy.response.keepsLastGood,
            let key = asked.flatMap(AnswerKey.init)
        else { return nil }
        return (key, rule.maxAge)
    }

    /// Where the attempt goes, without its query; at most 1,024 bytes of path.
    var url: String {
        let path = sentTo.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }.prefix(1_024)
        let visible = path.map { $0 > 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }
        return plan.upstream.origin.text + String(decoding: visible, as: UTF8.self)
    }

    /// Path and query of the attempt.
    var sentTo: String { redirect?.target ?? plan.upstream.basePath + preparation.target }

    /// The answer as its caller gets it.
    func outgoing(_ response: HTTPResponse) -> HTTPResponse {
        let policy = context.route.policy
        guard policy.response.locationPrefix != nil || !policy.request.query.parameters.isEmpty,
            LocationRewrite.concerns(response.fields)
        else { return response }
        var response = response
        LocationRewrite(
            prefix: policy.response.locationPrefix,
            upstreams: policy.upstreams,
            upstream: plan.upstream,
            target: sentTo,
            query: policy.request.query
        ).rewrite(&response.fields)
        return response
    }

    static let late: Failure = {
        var failure = Failure(
            .deadlineExceeded,
            sent: .neverSent,
            "the job's time was over before it could be sent"
        )
        failure.isPastDeadline = true
        return failure
    }()
}

// How it ended; asked at the last step.
extension ExecutionMachine {
    /// Of a request that somebody waits for; mutating, so that the machine is not copied for it.
    package mutating func outcome(reservation: MemoryReservation?) -> Outcome {
        let (attempts, reason) = (recovery.attempts, preparation.body.sentOnceBecause)
        guard case .end(let ending) = step else {
            preconditionFailure("a request was asked for its outcome before its end")
        }
        switch ending {
        case .answered(let response, let source):
            return Outcome(
                context,
                response,
                by: source,
                attempts: attempts,
                sentOnceBecause: reason,
                keptJob: keptJob,
                reservation: reservation
            )
        case .failed(let failure):
            return Outcome(
                context,
                failure,
                answer: answer,
                attempts: attempts,
                sentOnceBecause: reason,
                reservation: reservation
            )
        case .undelivered, .follows: preconditionFailure("a run has no outcome but a delivery")
        }
    }

    /// Of one run of a durable job.
    package func delivery(reservation: MemoryReservation?) -> Delivery {
        let attempts = recovery.attempts
        var delivery: Delivery
        switch step {
        case .end(.answered(let response, let source)):
            delivery = Delivery(context, response, by: source, attempts: attempts)
        case .end(.undelivered(let ending, let failure, let pauseReason)):
            delivery = Delivery(context, ending, failure, answer: answer, attempts: attempts)
            delivery.pauseReason = pauseReason
        case .end(.follows(let wait)):
            delivery = Delivery(
                context,
                .retry(after: wait, .following),
                nil,
                answer: answer,
                attempts: attempts
            )
        default: preconditionFailure("a run was asked for its end at the step \(step)")
        }
        delivery.isUncertain = recovery.isUncertain || follows && recovery.endOfUnsafe(Follow.running) != nil
        delivery.isSettled = recovery.isSettled
        delivery.isOperationDone = questions?.follow?.result != nil
        delivery.lacksContent = lacksContent
        delivery.hold = hold
        delivery.reservation = reservation
        return delivery
    }
}

extension HeaderFields {
    /// Whether they ask only for what has changed (RFC 9110 §13.1).
    var isConditional: Bool {
        mayContain(conditions) && (contains(.ifNoneMatch) || contains(.ifModifiedSince))
    }
}

private let conditions = FieldName.Marks([.ifNoneMatch, .ifModifiedSince])

// The facts that the route's traffic asks about.
extension ExecutionMachine {
    /// The request's class, for an upstream in trouble; mutating, so that the machine is not copied for it.
    mutating func asked(of context: JobContext) -> RequestClass {
        RequestClass(
            preparation.method,
            target: preparation.target,
            contentLength: preparation.body.length,
            user: context.client?.user,
            credential: preparation.callersCredential
        )
    }

    /// The cause of the last attempt's failure, as its upstream's traffic knows it.
    ///
    /// That it was one too many only spares a kept job, of which the failure alone tells the rest.
    mutating func blamed(_ cause: FailureCause) {
        if cause == .tooMany, !recovery.sparesRefusals { return }
        switch step {
        // It is not on record before it is decided about.
        case .recall(var failure, let refusal):
            failure.blamed = cause
            step = .recall(failure, refusal)
        case .name(var failure):
            failure.blamed = cause
            step = .name(failure)
        default: recovery.blamed(cause)
        }
    }
}

extension ExecutionMachine.Step {
    var driverStep: ExecutionMachine.DriverStep {
        switch self {
        case .send: .send
        case .token: .token
        case .wait, .hold: .pause
        case .collect, .prepare, .consult, .keep: .wait
        case .grant, .begin, .classify, .recover, .name, .recall, .accept: .answer
        case .end: .ended
        }
    }
}
