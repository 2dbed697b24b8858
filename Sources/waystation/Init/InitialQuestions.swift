import Glibc
import RelayConfig
import RelayRoute

/// Asks a person for what the options have left open.
struct InitialQuestions {
    let draft: InitialDraft
    let file: String

    /// Each answer is asked for until the reader of configurations takes it.
    func ask() throws(CommandFailure) -> InitialConfiguration {
        var draft = draft
        Output.error.write(
            "A few questions; Enter takes what stands in brackets, Ctrl-C leaves all as it is.\n"
        )
        if draft.url == nil {
            draft.url = try word("URL of the upstream, such as https://api.example.com/v1/", nil) { text in
                refusal(.url, of: draft) { tried in
                    tried.url = text
                    // Whether an address that is not public is meant is asked next.
                    guard let url = try? UpstreamURL(parsing: text) else { return }
                    tried.allowed = SpecialAddresses.ranges(to: url)?.ranges ?? []
                }
            }
        }
        if draft.allowed.isEmpty, let url = try? UpstreamURL(parsing: draft.url ?? ""),
            let special = SpecialAddresses.ranges(to: url),
            try yes("The host is \(special.what), which the relay dials only where it is meant. Is it")
        {
            draft.allowed = special.ranges
        }
        if draft.route == nil {
            draft.route = try word("Name of the route", draft.configuration.route) { text in
                refusal(.route, of: draft) { $0.route = text }
            }
        }
        try askCredential(&draft)
        if !draft.isDurable {
            draft.isDurable = try yes("Keep each request on disk, answer at once and deliver it later")
        }
        if draft.isDurable, !draft.generatesKeys {
            draft.generatesKeys = try yes(
                "Does the upstream know Idempotency-Key, so that a POST may be sent twice"
            )
        }
        return draft.configuration
    }

    private func askCredential(_ draft: inout InitialDraft) throws(CommandFailure) {
        let kinds = InitialCredential.Kind.allCases.map(\.rawValue)
        if draft.kind == nil {
            let text = try word("How it knows you: \(kinds.joined(separator: ", "))", "none") { text in
                kinds.contains(text) ? nil : "one of these words"
            }
            draft.kind = InitialCredential.Kind(rawValue: text)
        }
        guard let kind = draft.kind, let secret = kind.secret else { return }
        for part in kind.parts where draft.values[part.option] == nil {
            let before = draft
            draft.values[part.option] = try word(part.question, part.defaultValue) { text in
                refusal(.part(part.key), of: before) { $0.values[part.option] = text }
            }
        }
        if draft.location == nil {
            let before = draft
            let usual = InitialCredential.defaultName(kind, route: draft.configuration.route)
            let text = try word(
                "Where the \(secret.word) is kept, the name of a systemd credential or the path of a file",
                usual
            ) { text in
                refusal(.secret, of: before) { $0.location = InitialCredential.Location(text) }
            }
            draft.location = InitialCredential.Location(text)
        }
    }

    /// Why an answer may not stand in the draft; nil where it may.
    private func refusal(
        _ answer: InitialCheck.Answer,
        of draft: InitialDraft,
        _ change: (inout InitialDraft) -> Void
    ) -> String? {
        var tried = draft
        change(&tried)
        return InitialCheck(tried.configuration, file: file).refusal(of: answer)
    }

    private func word(
        _ question: String,
        _ usual: String?,
        refusal: (String) -> String?
    ) throws(CommandFailure) -> String {
        while true {
            let text = try line(question + (usual.map { " [\($0)]" } ?? "") + ": ")
            let answer = text.isEmpty ? usual ?? "" : text
            guard let reason = refusal(answer) else { return answer }
            Output.error.write("  Not that: \(safe(reason))\n")
        }
    }

    private func yes(_ question: String) throws(CommandFailure) -> Bool {
        while true {
            switch try line("\(question)? [y/N]: ").lowercased() {
            case "y", "yes": return true
            case "", "n", "no": return false
            default: Output.error.write("  Not that: y or n\n")
            }
        }
    }

    private func line(_ prompt: String) throws(CommandFailure) -> String {
        Output.error.write(prompt)
        guard let line = readLine() else {
            Output.error.write("\n")
            throw CommandFailure(.failed, "nothing was written: the questions were left")
        }
        return String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
