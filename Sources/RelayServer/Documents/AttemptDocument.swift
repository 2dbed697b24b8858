package import RelayBase
import RelayEngine
package import RelayJSON
import RelayJobs

extension Attempt {
    /// The members of an attempt; `start` is when its job was accepted, or first tried, in milliseconds since 1970.
    package func write(into json: inout JSONObjectWriter, since start: Int64) {
        json.member("number", number)
        json.member("upstream", upstream)
        if let address = exchange?.address { json.member("address", address) }
        json.moment("started_at", beganAt)
        json.member("started_after_ms", max(0, beganAt.subtractingSaturating(start)))
        if exchange?.wasResent == true { json.member("resent", true) }
        // Nobody knows how long an attempt took that a crash cut short.
        if failure?.kind != .interrupted {
            json.milliseconds("duration_ms", duration)
            if let exchange { exchange.write(into: &json) }
        }
        json.member("result", result.rawValue)
        if let status { json.member("status", status.rawValue) }
        if let failure {
            json.member("kind", failure.kind.rawValue)
            json.member("cause", failure.cause.rawValue)
            json.member("sent", failure.sent.rawValue)
            json.member("detail", failure.detail)
            if let code = failure.apiCode { json.member("api_code", code) }
            if let title = failure.apiTitle { json.member("api_title", Quotation.text(title)) }
        }
        if let rule { json.member("rule", rule) }
        if let next {
            json.member("next", next.name)
            switch next {
            case .retry(let wait): json.milliseconds("wait_ms", wait)
            case .failover(let upstream): if let upstream { json.member("next_upstream", upstream) }
            case .respond(let source), .respondAndKeep(let source):
                json.member("next_source", source.rawValue)
            case .refreshCredentials, .quickRecovery, .fail, .deadLetter, .pauseRoute, .hold: break
            }
        }
        json.member("spent", isSpent)
        if !heldBack.isEmpty {
            json.array("held_back") { list in
                for held in heldBack {
                    list.object {
                        $0.member("rule", held.rule)
                        $0.member("reason", held.reason.text)
                    }
                }
            }
        }
    }

    /// The result of an attempt, in one word.
    enum ResultWord: String, CaseIterable {
        case success
        case failure
        case cancelled
        case interrupted
    }

    private var result: ResultWord {
        switch failure?.kind {
        case nil: .success
        case .cancelled?: .cancelled
        case .interrupted?: .interrupted
        case _?: .failure
        }
    }
}

extension Exchange {
    fileprivate func write(into json: inout JSONObjectWriter) {
        json.object("timing_ms") { timing in
            timing.milliseconds("dns", nameLookup)
            timing.milliseconds("connect", connect)
            if let firstByte { timing.milliseconds("first_byte", firstByte) }
        }
    }
}

extension JSONObjectWriter {
    /// A moment in milliseconds since 1970 UTC; nothing where there is none.
    mutating func moment(_ name: String, _ milliseconds: Int64?) {
        if let milliseconds { member(name, UTCTime.format(milliseconds: milliseconds)) }
    }

    mutating func strings(_ name: String, _ texts: [String]) {
        array(name) { list in for text in texts { list.element(text) } }
    }

    package mutating func milliseconds(_ name: String, _ duration: Duration) {
        member(name, Double(duration.saturatedNanoseconds / 1000) / 1000)
    }
}
