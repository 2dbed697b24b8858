import RelayBase
import RelayJSON

extension ConfigurationTable {
    static var respond: ValueKind<RespondDraft> {
        TaggedSection<RespondDraft>(
            "respond",
            "An answer in the upstream's stead; Waystation-Source tells the caller.",
            key: "as",
            [
                .init(
                    "fallback",
                    canned(.fallback, "An answer that is not the upstream's and does not look like it.")
                ) { $0 },
                .init("placeholder", canned(.placeholder, "An answer that looks like the upstream's.")) {
                    $0
                },
                .init("stale", stale) { $0 },
            ]
        ).kind
    }

    private static let tagDoc = "What the answer is called."

    private static var and: Field<RespondDraft> {
        Field("and", .word(), \.and) {
            "keep lets the request go on as a kept job, which is on disk before the answer leaves and named there: "
                + "Waystation-Job and Waystation-Kept: true. It does where the rules for kept jobs would send it again "
                + "after the same failure, its attempts so far counted; Waystation-Kept: false says why it does not. "
                + "Without a retry below the rule it is sent again for two days, as on a route without rules. It expires "
                + "by delivery.expires_after, however short the time of its caller was."
        }
    }

    private static func canned(_ source: StandIn, _ doc: String) -> Section<RespondDraft> {
        Section(
            "\(source.rawValue)_answer",
            doc,
            of: RespondDraft(source: source),
            choices: [.atMostOne("json", "text")]
        ) {
            Field.tag("as", source.rawValue, tagDoc)
            Field("status", .status, \.status, isRequired: true) { "The status." }
            Field("headers", .fields(.answer), \.fields) { "The headers." }
            Field("json", .json, \.json) { "The body, as JSON; Content-Type is then application/json." }
            Field("text", .string(upTo: 65_536, isBody: true), \.text) { "The body, as plain text." }
            and
        } check: { draft, node, reading in
            guard draft.status.forbidsContent, let body = node["json"] ?? node["text"] else { return }
            reading.error(
                "status \(draft.status.rawValue) has no body",
                at: body.nameRange,
                hint: "remove it"
            )
        }
    }

    private static var stale: Section<RespondDraft> {
        let refusal = "does not belong to a stale answer, which is given as it was kept"
        return Section(
            "stale_answer",
            "The last good answer to the same request, when cache_last_good has kept one that is not too old; "
                + "otherwise the rules below are read.",
            of: RespondDraft(source: .stale)
        ) {
            Field.tag("as", "stale", tagDoc)
            and
            ["status", "headers", "json", "text"].map { Field.foreign($0, refusal) }
        }
    }
}
