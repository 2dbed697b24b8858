import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension APICall.Resource {
    /// The part of the contract about one of its methods.
    func operation(_ method: Method) -> Operation {
        switch self {
        case .version:
            Operation(.daemon, "getVersion", "The version of the daemon and of this interface")
                .gives(Reply("The versions.", "Version"))
        case .status:
            Operation(.daemon, "getStatus", "The daemon at this moment")
                .gives(Reply("What it does and how it is doing.", "Status"))
        case .troubles:
            Operation(.daemon, "getTroubles", "Everything that is wrong, and what there is to do")
                .says("Those of one cause and one host are one; the most costly stands first.")
                .gives(Reply("What is wrong.", "Troubles"))
        case .metrics:
            Operation(.daemon, "getMetrics", "The metrics, as Prometheus reads them")
                .says("OpenMetrics where Accept prefers it. waystationd-metrics(7) explains each.")
                .gives(Reply(status: 200, doc: "The metrics.", content: metrics))
        case .live:
            Operation(.daemon, "getLive", "Whether the daemon answers at all")
                .gives(Reply("It does.", "Live"))
        case .ready:
            Operation(.daemon, "getReady", "Whether requests are served")
                .gives(Reply("They are.", "Ready")).refuses([.draining, .storageStalled])
        case .reload:
            Operation(.daemon, "reload", "Read the configuration again")
                .says("One that is not valid leaves the old one in force.")
                .reads([.digest])
                .gives(Reply("It is in force.", "Reload")).refuses([.configRejected, .preconditionFailed])
        case .endpoints:
            Operation(.daemon, "checkEndpoints", "See what a first request would meet at each endpoint")
                .says(
                    "For every upstream and token endpoint of the configuration in force: name, addresses, connection, "
                        + "TLS, a token, and the harmless request that the key check of a route names. Nothing else is "
                        + "sent. Tokens are the daemon's own, and one that is still good is not asked for again."
                )
                .gives(Reply("What was seen.", "Endpoints")).refuses([.checkRunning])
        case .jobs: method == .post ? .submitJobs : .listJobs
        case .stream: .streamJobs
        case .job(_, let part): part.operation(method)
        case .actions:
            Operation(.jobs, "actOnJobs", "Do something to every job that matches")
                .takes(Operation.Content("BulkAction")).gives(Reply("What came of it.", "BulkResult"))
                .refuses(
                    Problem.Code.ofStore + [
                        .routeNotFound, .unsupportedMediaType, .invalidJob, .selectionChanged,
                    ]
                )
        case .runs where method == .post:
            Operation(
                .jobs,
                "beginRun",
                "Do something to every job that matches, and go on without the caller"
            )
            .says(
                "The daemon goes through the jobs that match now, page by page, also after a restart; jobs that "
                    + "come later, or end later, are not among them. What matches is counted by actOnJobs."
            )
            .takes(Operation.Content("RunOrder"))
            .gives(
                Reply(
                    status: 202,
                    doc: "It is on disk.",
                    content: [Operation.Content("Run")],
                    fields: [.runLocation]
                )
            )
            .refuses(
                Problem.Code.ofStore + [
                    .routeNotFound, .unsupportedMediaType, .invalidJob, .selectionChanged, .tooManyRuns,
                ]
            )
        case .runs:
            Operation(.jobs, "listRuns", "The runs, the newest first")
                .says("Those that go on, and the last \(ActionRun.mostEnded) that are over.")
                .gives(Reply("The runs.", "RunList"))
        case .run(_, .whole):
            Operation(.jobs, "getRun", "One run").gives(Reply("The run.", "Run")).refuses([.runNotFound])
        case .run(_, .stop):
            Operation(.jobs, "stopRun", "End a run")
                .says("What it has done stays; one that is over stays as it is. There is no content.")
                .gives(Reply("The run.", "Run")).refuses(Problem.Code.ofStore + [.runNotFound])
        case .events: .readEvents
        case .shape:
            Operation(.routes, "getShape", "How many jobs wait, and for how long already")
                .gives(Reply("A table.", "Shape")).refuses(Problem.Code.ofStore + [.routeNotFound])
        case .history:
            Operation(.routes, "getHistory", "The last hour of the routes, minute by minute")
                .says("Durations are estimates from buckets; null where there was nothing.")
                .gives(Reply("The hour, oldest minute first.", "History")).refuses([.routeNotFound])
        case .routes:
            Operation(.routes, "listRoutes", "Every route")
                .says("Those of the configuration in its order, then those that only have jobs.")
                .gives(Reply("The routes.", "RouteList")).refuses(Problem.Code.ofStore)
        case .table:
            Operation(.routes, "getTable", "The routes in few words, and which of them have changed")
                .says("In the order of all routes; figures of the last hour are estimates from buckets.")
                .gives(Reply("The rows.", "Table")).refuses(Problem.Code.ofStore)
        case .route(_, let part):
            part.operation.gives(Reply("The route.", "Route")).reads(part == .whole ? [] : [.revision])
                .refuses(
                    Problem.Code.ofStore + [.routeNotFound] + (part == .whole ? [] : [.preconditionFailed])
                        + (part.operation.content == nil ? [] : [.unsupportedMediaType])
                )
        case .constrained where method == .put:
            Operation(.daemon, "setConstrained", "Say whether the network counts as constrained")
                .says("The configuration has to give operators a say.")
                .takes(Operation.Content("ConstrainedOrder"))
                .gives(Reply("Whether, and why, from now on.", "Constrained"))
                .refuses([.unsupportedMediaType])
        case .constrained:
            Operation(.daemon, "getConstrained", "Whether the network counts as constrained")
                .gives(Reply("Whether, and why.", "Constrained"))
        case .contract:
            Operation(.daemon, "getContract", "This document")
                .gives(Reply("The interface as OpenAPI 3.1.", contract))
        case .page: preconditionFailure("the page is no part of the contract")
        }
    }

    private var metrics: [Operation.Content] {
        [MetricsText.Format.prometheus, .openMetrics].map { format in
            Operation.Content(
                type: "\(format.type)",
                schema: .text,
                examples: ["paused": .string("waystation_route_paused{route=\"billing\"} 1\n")]
            )
        }
    }

    private var contract: Operation.Content {
        Operation.Content(
            schema: .object([
                Property("openapi", .text), Property("info", .map(.anything)),
                Property("paths", .map(.anything)), .maybe("servers", .list(.map(.anything))),
                .maybe("tags", .list(.map(.anything))), .maybe("components", .map(.anything)),
            ]),
            examples: [
                "contract": .example(
                    #"{"openapi": "3.1.0", "info": {"title": "waystationd", "version": "v1"}, "paths": {}}"#
                )
            ]
        )
    }
}

extension APICall.RoutePart {
    /// Each is answered by the route as it then is.
    fileprivate var operation: Operation {
        switch self {
        case .whole: Operation(.routes, "getRoute", "One route")
        case .pause:
            Operation(.routes, "pauseRoute", "Pause a route").says("A pause survives a restart.")
                .takes(Operation.Content("PauseOrder"), isRequired: false)
        case .resume:
            Operation(.routes, "resumeRoute", "Let a route go on")
                .says("The jobs that its pause put aside go on with it. There is no content.")
        case .breaker:
            Operation(.routes, "setBreaker", "Keep a breaker open or closed, or leave it to itself")
                .says("It does not outlive a restart.").takes(Operation.Content("BreakerOrder"))
        case .clearLimits:
            Operation(.routes, "clearLimits", "Lift what holds the requests of a route back")
                .says(
                    "What upstreams have asked for, the rates and windows that were learnt, and which requests fail: "
                        + "all of it begins anew. Pauses and circuit breakers stay; a second call changes nothing more."
                )
                .takes(Operation.Content("ClearOrder"), isRequired: false)
        }
    }
}
