import RelayJSON

/// One entry of `constrained.when`.
struct ConstrainedSourceDraft {
    var file: String?
    var control: Bool?
}

struct ConstrainedDraft {
    var when: [ConstrainedSourceDraft] = []
}

extension ConfigurationTable {
    static var constrained: Section<ConstrainedDraft> {
        Section(
            "constrained",
            "What tells that the network is constrained: upstreams that are used when_constrained then take the "
                + "place of the first one of their route. Any of the sources is enough.",
            of: ConstrainedDraft()
        ) {
            Field("when", .list(source.kind, minimum: 1, maximum: 20), \.when, isRequired: true) {
                "The sources."
            }
        } check: { draft, node, reading in
            guard let list = node["when"]?.value else { return }
            reading.within("when") { reading in
                checkUnique("file_exists", in: list, "source", &reading)
                let controls = list.elements.enumerated().filter { $0.element["control"] != nil }
                for (index, _) in controls.dropFirst() {
                    reading.error(
                        "another source has \"control\" too",
                        at: list.location("\(index)", "control")
                    )
                }
            }
        }
    }

    private static var source: Section<ConstrainedSourceDraft> {
        Section(
            "constrained_source",
            "One source.",
            of: ConstrainedSourceDraft(),
            choices: [.exactlyOne("file_exists", "control")]
        ) {
            Field("file_exists", .absolutePath, \.file) {
                "A file that is there while the network is constrained. A change is seen within a second."
            }
            Field("control", .boolean, \.control) {
                "Lets operators decide with \"waystation constrained\"; what they say overrides the files "
                    + "until they leave it to them again, or the relay is restarted."
            }
        } check: { draft, node, reading in
            guard draft.control == false else { return }
            reading.error(
                "\"control\" takes true",
                at: node.location("control"),
                hint: "write true, or remove the source"
            )
        }
    }
}
