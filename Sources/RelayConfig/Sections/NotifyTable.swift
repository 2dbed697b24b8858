import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var notify: Section<NoticeSettings> {
        Section(
            "notify",
            "How a kept job's ending becomes a job of another route, its notice: a POST to the base of that route's upstream "
                + "with the job's document (GET /v1/jobs/ID) as JSON, on disk in the same transaction as the ending. It has "
                + "the job's priority and trace and is nobody's: to read it takes the role read, to end it operate. Its "
                + "Idempotency-Key comes from the job's id. An ending after a retry makes another one, which says what it "
                + "supersedes: order by that, not by arrival. Its own ending tells nobody.",
            of: NoticeSettings()
        ) {
            Field("route", .name, \.route, isRequired: true) {
                "The route that is told, by its name: another one, in mode durable. Notices take no room of "
                    + "limits.max_queued_jobs or of users: as many may wait beside the jobs. Beyond that, or without room on "
                    + "disk, the ending is kept and the notice is owed."
            }
            Field(
                "on",
                .list(
                    .word(meant: ["delivered": "succeeded", "success": "succeeded"]),
                    minimum: 1,
                    maximum: 4
                ),
                \.endings
            ) {
                "The endings that are told; all of them when it is absent."
            }
            Field("include", .list(.word(meant: ["answer": "response"]), maximum: 2), \.contents) {
                "Bodies that stand in the notice, up to 64KiB of each; none when it is absent. To expunge the job leaves them "
                    + "there until the notice is expunged or removed."
            }
        }
    }

    /// Each notice finds a route that keeps it, and none comes back.
    static func checkNotices(
        _ routes: [(name: String, value: RouteDraft)],
        _ node: JSONNode,
        _ reading: inout ReadContext
    ) {
        var targets: [String: String] = [:]
        let policies = Dictionary(routes.map { ($0.name, $0.value.policy) }) { first, _ in first }
        for (name, route) in routes {
            guard let notices = route.policy.delivery.notices else { continue }
            let place = node.location("routes", name, "delivery", "notify", "route")
            let target = policies[notices.route]
            if notices.route == name {
                reading.error(
                    "a route cannot be told of its own endings",
                    at: place,
                    hint: "name another one"
                )
            } else if let target {
                targets[name] = notices.route
                check(target, named: notices.route, at: place, &reading)
            } else {
                reading.error("there is no route \"\(printable(notices.route))\"", at: place)
            }
            check(notices, of: route.policy.delivery, node, name, &reading)
        }
        var seen: Set<String> = []
        for (name, _) in routes where seen.insert(name).inserted {
            var way = [name]
            while let next = targets[way[way.count - 1]] {
                if let start = way.firstIndex(of: next) {
                    let loop = (way[start...] + [next]).map { "\"\(printable($0))\"" }.joined(separator: ", ")
                    reading.error(
                        "routes tell each other how jobs end, in a circle: \(loop)",
                        at: node.location("routes", way[start], "delivery", "notify", "route"),
                        hint: "let one of them tell nobody, or a route that tells nobody"
                    )
                    break
                }
                guard seen.insert(next).inserted else { break }
                way.append(next)
            }
        }
    }

    private static func check(
        _ target: RoutePolicy,
        named name: String,
        at place: JSONNode.Location,
        _ reading: inout ReadContext
    ) {
        if target.delivery.mode != .durable {
            reading.error(
                "the route \"\(printable(name))\" answers its requests, and notices are kept",
                at: place,
                hint: "write \"delivery\": {\"mode\": \"durable\"} there"
            )
        } else if target.delivery.ordering == .route {
            reading.error(
                "the route \"\(printable(name))\" has all its jobs in one order, in which notices have no place",
                at: place,
                hint: "leave out its \"ordering\": \"route\""
            )
        }
    }

    private static func check(
        _ notices: NoticeSettings,
        of delivery: DeliverySettings,
        _ node: JSONNode,
        _ route: String,
        _ reading: inout ReadContext
    ) {
        for (index, content) in notices.contents.enumerated() {
            let (keeping, key) =
                content == .request
                ? (delivery.keepsRequests, "keep_requests") : (delivery.keepsResponses, "keep_responses")
            guard keeping == .never else { continue }
            reading.error(
                "the \(content.rawValue) of a job that is over is not kept (\(key)), so that no notice can have it",
                at: node.location("routes", route, "delivery", "notify", "include", "\(index)"),
                hint: "leave it out, or let \"\(key)\" keep it"
            )
        }
    }
}
