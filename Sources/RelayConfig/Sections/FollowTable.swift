import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var follow: Section<Following> {
        Section(
            "follow",
            "How an operation of the upstream is followed to its end. Looks at it are GETs below the base of the upstream that "
                + "answered, with the route's credential, and what request.headers, request.query and prepare set; an address "
                + "elsewhere is follow_refused. While it goes on a kept job waits (following) and holds no permit; the "
                + "request is not sent again, unless a rule names operation_failed, operation_lost or follow_refused, "
                + "or what error_types call it.",
            of: Following()
        ) {
            Field("when", answer("when", of: "follow").kind, \.when) {
                "Answers that begin an operation; a 202 that names its address when it is absent."
            }
            Field("location", locator("location"), \.location) {
                "Where the answer names the operation's address; Operation-Location, or else Location, when it is absent."
            }
            Field("below", .originPath, \.below) {
                "A path of the upstream's origin below which operations and their results may stand besides its base, such as "
                    + "/operations, or / for all of the origin; never another origin."
            }
            Field("done", answer("done", of: "follow").kind, \.done) {
                "Answers to a look that say that the operation is done: that is the answer (source followed). When it is "
                    + "absent a document with a /status is done with succeeded, success, successful, completed, complete, done or "
                    + "finished, in any case, and goes on with any other word or a number, as without content; without a /status, "
                    + "and for what a Location names, any other 2xx than 202 says that it is done. A 303 names the result."
            }
            Field("failed", answer("failed", of: "follow").kind, \.failed) {
                "Answers to a look that say that it has failed (operation_failed), which are read before done; a /status of "
                    + "failed, failure, error, canceled, cancelled, aborted or expired when it is absent, but for what a Location "
                    + "names. A 404 or 410 that is neither, and one that goes on "
                    + "and names another path than the operation's, end it as operation_lost; a 301, 302, 307 or 308 is "
                    + "looked up where it leads; any other answer that is no 2xx is looked for again."
            }
            Field("result", locator("result"), \.result) {
                "Where the answer that says done names the result, which is then fetched by a GET and is the answer; that "
                    + "answer itself when it is absent, or names none."
            }
            Field("interval", .duration(.milliseconds(10) ... .seconds(3_600)), \.interval) {
                "The shortest wait between two looks: it grows with the operation's age, half of it and at most max_interval. A "
                    + "longer Retry-After of the upstream takes its place, up to 15m or max_interval."
            }
            Field("max_interval", .duration(.milliseconds(10) ... .seconds(86_400)), \.maxInterval) {
                "The longest, until a hundredth of the operation's age is longer."
            }
            Field("timeout", .duration(.seconds(1) ... .seconds(30 * 86_400)), \.timeout) {
                "How long a kept job follows its operation, which is operation_lost then. A caller that waits has the time of its "
                    + "request, and gets the 202 at its end (source begun): the operation goes on."
            }
            Field("cancel", .word(), \.cancel) {
                "DELETE has the upstream told to stop the operation of a job that is cancelled, and of a caller that goes away: "
                    + "one DELETE to its address, whose answer is on record (told, untold); nothing is told when it is absent."
            }
        }
    }

    private struct LocatorDraft {
        var header: String?
        var pointer: JSONPointer?

        var locator: Following.Locator? {
            if let pointer { return .pointer(pointer) }
            return header.flatMap { FieldName($0) }.map { .field($0) }
        }
    }

    private static func locator(_ name: String) -> ValueKind<Following.Locator> {
        Section(
            "follow_\(name)",
            "A place in an answer.",
            of: LocatorDraft(),
            choices: [.exactlyOne("header", "pointer")]
        ) {
            Field("header", .fieldName(.answer), \.header) { "A header of the answer." }
            Field("pointer", .pointer, \.pointer) { "A pointer to a text of its JSON body." }
        }.kind.compactMap(\.locator)
    }
}

extension RouteCheck {
    /// Looks come in time, and somebody has the time for one.
    func checkFollowing(_ reading: inout ReadContext) {
        guard let following = policy.following, let place = node["follow"]?.value else { return }
        reading.within("follow") { reading in
            if following.interval > following.maxInterval {
                reading.error(
                    "the shortest wait is longer than the longest (\(DurationText.text(following.maxInterval)))",
                    at: place.location(place["interval"] == nil ? "max_interval" : "interval"),
                    hint: "raise \"max_interval\", or lower \"interval\""
                )
            }
            if !isDurable, following.interval >= policy.timeouts.total {
                reading.warn(
                    "no request that waits is followed: its time is over after \(DurationText.text(policy.timeouts.total))",
                    at: place.location("interval"),
                    hint: "raise \"timeouts.total\", or look sooner"
                )
            }
        }
    }
}

extension ValueKind where Value == String {
    /// A path of an origin, by whole segments: no escapes, no dot segments.
    fileprivate static var originPath: ValueKind {
        .text("a path such as \"/operations\"", pattern: "^/") { text throws(Refusal) in
            guard text.hasPrefix("/"), text.utf8.count <= Following.addressLimit else {
                throw Refusal("expected a path of an origin", hint: "begin with \"/\"")
            }
            let refused = "\"\\%?#;<>^`{|}".utf8
            guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !refused.contains($0) }) else {
                throw Refusal("a path of plain segments stands here, without escapes or a query")
            }
            guard !text.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
                throw Refusal("\".\" and \"..\" may not stand in a path")
            }
            return text
        }.writing { .string($0) }
    }
}
