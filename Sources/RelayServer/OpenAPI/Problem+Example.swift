import RelayBase
import RelayEngine
import RelayJSON

extension Problem {
    var document: JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            preconditionFailure("a problem is not JSON")
        }
    }

    /// A problem as it is answered, for the document.
    static func example(_ code: Code) -> Problem {
        switch code {
        case .badRequest: Problem(code, "the action is not JSON: a value is missing at byte 12")
        case .badHeader:
            Problem(
                code,
                "there is no field waystation-time-out; the relay reads \(RelayFields.known.joined(separator: ", "))",
                didYouMean: "waystation-timeout"
            )
        case .badTarget:
            Problem(
                code,
                "/v1/jobs has no parameter \"status_code\"; it reads \(JobListing.parameters.map(\.name).joined(separator: ", "))",
                didYouMean: "status"
            )
        case .notAllowed:
            Problem(
                code,
                "/v1/reload needs the role admin, and this socket gives submit: use the control socket"
            )
        case .routeNotFound: Problem(code, "there is no route \"biling\"", didYouMean: "billing")
        case .jobNotFound: Sight.notFound
        case .pathNotFound: Problem(code, "the job is dead, and no answer of an upstream is kept for it")
        case .methodNotAllowed:
            Problem(code, "/v1/status does not have the method POST", methods: [.get, .head])
        case .requestTimeout: Problem(code, "the request head took longer than 10 s")
        case .contentTooLarge: Problem(code, "a document for the API may have 1048576 bytes")
        case .targetTooLong: Problem(code, "the request target is longer than 16384 bytes")
        case .unsupportedMediaType: Problem(code, "a job is application/json")
        case .expectationFailed: Problem(code, "the expectation is not 100-continue")
        case .headTooLarge: Problem(code, "the request head is longer than 65536 bytes")
        case .invalidJob:
            Problem(
                code,
                "the job has 1 error; see errors",
                errors: [
                    ("/options/max_attempt", "there is no such member", "did you mean \"max_attempts\"?")
                ]
            )
        case .configRejected: Problem(code, "1 error; the old configuration stays in force")
        case .idempotencyKeyReused:
            Problem(code, "the key belongs to a job with another request", route: "billing", job: exampleJob)
        case .idempotencyInProgress:
            Problem(
                code,
                "a request with this key is under way",
                route: "billing",
                job: exampleJob,
                retryAfter: .seconds(1)
            )
        case .jobState: Problem(code, "the job is succeeded; only a job that waits is held", job: exampleJob)
        case .bodyExpired, .responseNotReady, .preconditionFailed, .routePaused, .queueFull, .storageFull,
            .storageFailed, .storageCorrupt, .storageStalled:
            keptExample(code)
        case .rateLimited, .upstreamFailed, .invalidResponse, .credentialsFailed, .preparationFailed,
            .breakerOpen, .upstreamTimeout, .deadlineExceeded, .loop:
            sentExample(code)
        case .internalError: Problem(code, "the relay failed")
        case .notImplemented:
            Problem(code, "CONNECT cannot be relayed: what goes through a tunnel cannot be retried")
        case .versionNotSupported: Problem(code, "the version is none of HTTP/1.0 and HTTP/1.1")
        case .overloaded:
            Problem(
                code,
                "64 requests are under way and 256 wait (concurrency)",
                route: "billing",
                retryAfter: .seconds(1)
            )
        case .draining: Problem(code, "the relay is not ready", retryAfter: .seconds(1))
        case .notStarted:
            Problem(code, "the configuration is not valid; run waystationd --check", retryAfter: .seconds(5))
        }
    }

    /// Of jobs that are kept.
    private static func keptExample(_ code: Code) -> Problem {
        switch code {
        case .bodyExpired: Problem(code, "the body is no longer kept", route: "billing", job: exampleJob)
        case .responseNotReady:
            Problem(
                code,
                "the job is retrying; ask with Prefer: wait=30, or later",
                route: "billing",
                job: exampleJob,
                retryAfter: .seconds(1)
            )
        case .preconditionFailed: Problem(code, "the job has version 7 now", job: exampleJob)
        case .routePaused: Problem(code, "the route is paused: maintenance", route: "billing")
        case .queueFull:
            Problem(
                code,
                "100000 jobs wait (limits.max_queued_jobs)",
                route: "billing",
                retryAfter: .seconds(60)
            )
        case .storageFull:
            Problem(code, "the job store has no room", route: "billing", retryAfter: .seconds(60))
        case .storageCorrupt: Problem(code, "the record is damaged", route: "billing", job: exampleJob)
        case .storageStalled: unreadNow
        default: Problem(code, "the job store is closed", route: "billing", retryAfter: .seconds(5))
        }
    }

    /// Of requests that were to go to an upstream.
    private static func sentExample(_ code: Code) -> Problem {
        var problem =
            switch code {
            case .rateLimited:
                Problem(
                    code,
                    "the route's rate is used up for longer than the request may wait",
                    route: "billing",
                    job: exampleJob,
                    retryAfter: .seconds(12)
                )
            case .invalidResponse:
                Problem(code, "the answer ended before it was complete", route: "billing", job: exampleJob)
            case .credentialsFailed:
                Problem(code, "the token endpoint answered 500", route: "billing", job: exampleJob)
            case .preparationFailed:
                Problem(
                    code,
                    "the body is not JSON, and an envelope belongs around it",
                    route: "billing",
                    job: exampleJob
                )
            case .breakerOpen:
                Problem(
                    code,
                    "10 of the last 20 attempts failed",
                    route: "billing",
                    job: exampleJob,
                    retryAfter: .seconds(1)
                )
            case .upstreamTimeout:
                Problem(code, "no answer within 10s", route: "billing", job: exampleJob)
            case .deadlineExceeded:
                Problem(code, "the request had 30s", route: "billing", job: exampleJob)
            case .loop: Problem(code, "the request has passed through this relay before", route: "billing")
            default:
                Problem(code, "127.0.0.1:9000 refused the connection", route: "billing", job: exampleJob)
            }
        problem.kind = exampleKinds[code]
        problem.sent = problem.kind == nil ? nil : .neverSent
        return problem
    }

    private static let exampleKinds: [Code: FailureKind] = [
        .rateLimited: .rateLimited, .credentialsFailed: .credentialsFailed, .preparationFailed: .preparation,
        .breakerOpen: .breakerOpen, .upstreamFailed: .connectionRefused,
    ]

    private static var exampleJob: JobID? { JobID(text: "01K9ZQ3V7N4T0C8R5B2M6XW1HD") }
}
