import RelayBase
import RelayInterface
import RelayRoute
import RelayServer
import RelayTransport

// The sentences of the steps, and what there is to do.
extension OnlineFinding {
    /// Takes over what was seen while a connection was made.
    mutating func take(_ report: DialReport, shortLife: Int) {
        address = report.address
        daysLeft = report.certificate?.daysLeft
        for (index, (step, time)) in report.steps.enumerated() {
            if let failure = report.failure, index == report.steps.count - 1 {
                let others = report.faults.dropLast()
                var step = Step.failed(step.name, failure, time, of: nil, at: endpoint.origin, after: others)
                if failure.kind == .connectionTimeout, let user = endpoint.hastiest {
                    step.detail += ", which is the shortest of those who go there: \(user)"
                }
                add(step)
            } else {
                add(seen(step, time, report, shortLife))
                if step == .tls { lookAtOwnCertificate(report.certificate, shortLife) }
            }
        }
        // Nothing was begun.
        if report.steps.isEmpty, let failure = report.failure {
            add(.failed(.connect, failure, .zero, of: nil, at: endpoint.origin))
        }
    }

    private func seen(
        _ step: DialReport.Step,
        _ time: Duration,
        _ report: DialReport,
        _ shortLife: Int
    ) -> Step {
        var seen = Step(name: step.name, time: time, detail: "")
        switch step {
        case .name: seen.detail = "the name leads to \(report.addresses.joined(separator: ", "))"
        case .rules:
            seen.detail = "\(report.permitted) of \(report.addresses.count) addresses may be dialled"
        case .connect:
            seen.detail = "\(report.address ?? endpoint.name) takes connections"
            guard !report.faults.isEmpty else { break }
            seen.result = .warning
            seen.detail += ", and others were tried in vain: \(report.faults.joined(separator: "; "))"
            seen.advice = "each new connection tries them, too: mend them, or have the name not lead there"
        case .tls: tell(report, shortLife, &seen)
        case .pins:
            seen.detail = report.missedPins ? "no pinned key is in the chain" : "a pinned key is in the chain"
            guard report.missedPins else { break }
            seen.result = .warning
            seen.advice =
                "with \"enforce\": true it would be refused: add the key to tls.pins, or see who is in between"
        }
        return seen
    }

    private func tell(_ report: DialReport, _ shortLife: Int, _ step: inout Step) {
        guard let certificate = report.certificate else { return }
        let days = certificate.daysLeft ?? 0
        let chain = certificate.count == 1 ? "a chain of one certificate" : "a chain of \(certificate.count)"
        step.detail = "\(certificate.version), \(chain) that holds for \(days) \(days == 1 ? "day" : "days")"
        step.word = "\(days)d"
        if certificate.isClientAsked, endpoint.showsCertificate {
            step.detail += ", and the client certificate was shown"
        }
        if days < shortLife {
            step.result = .warning
            step.advice = "have a certificate of the chain renewed: after that no request gets through"
        }
    }

    private mutating func lookAtOwnCertificate(_ certificate: CertificateFacts?, _ shortLife: Int) {
        guard let certificate else { return }
        lacksCertificate = certificate.isClientAsked && !endpoint.showsCertificate
        guard let days = certificate.ownDaysLeft, days < shortLife else { return }
        let isOver = days < 0
        let life = isOver ? "has expired" : "holds for \(days) \(days == 1 ? "day" : "days")"
        // Nobody has to like one that nobody asks for.
        add(
            Step(
                name: .tls,
                result: isOver && certificate.isClientAsked ? .failed : .warning,
                detail: "the client certificate \(life)",
                advice: "have it renewed: tls.client_certificate names it"
            )
        )
    }

    /// Warns of a client certificate that is not there, unless a request was answered without it.
    mutating func tellOfCertificateRequest() {
        guard lacksCertificate, !steps.contains(where: { $0.name == .request && $0.result == .ok }) else {
            return
        }
        add(
            Step(
                name: .tls,
                result: .warning,
                detail: "a client certificate was asked for, and there is none",
                advice: "where it must be shown, name one: tls.client_certificate"
            )
        )
    }
}

extension OnlineFinding.Step {
    static func failed(
        _ name: EndpointStep,
        _ failure: Failure,
        _ time: Duration,
        of owner: String?,
        at origin: Origin?,
        after others: ArraySlice<String> = []
    ) -> OnlineFinding.Step {
        let before = others.isEmpty ? "" : " (before that: \(others.joined(separator: "; ")))"
        return OnlineFinding.Step(
            name: name,
            result: .failed,
            time: time,
            detail: (owner.map { "\($0): " } ?? "") + failure.detail + before,
            advice: advice(name, failure, origin)
        )
    }

    /// There was no time to begin it.
    static func unseen(
        _ name: EndpointStep,
        _ what: String,
        _ limit: Duration
    ) -> OnlineFinding.Step {
        var step = late(name, what, limit, nil)
        step.result = .notSeen
        return step
    }

    /// It was begun, and the time was over.
    static func late(
        _ name: EndpointStep,
        _ what: String,
        _ limit: Duration,
        _ time: Duration?
    ) -> OnlineFinding.Step {
        OnlineFinding.Step(
            name: name,
            result: .failed,
            time: time,
            detail: "\(what) was not seen within --timeout (\(DurationText.text(limit)))",
            advice: "give it more time"
        )
    }

    /// Nil where the failure says it by itself.
    private static func advice(
        _ name: EndpointStep,
        _ failure: Failure,
        _ origin: Origin?
    ) -> String? {
        let (isUnix, isPlain) =
            switch origin {
            case .unix: (true, false)
            case .tcp(_, _, let isTLS): (false, !isTLS)
            case nil: (false, false)
            }
        let detail = failure.detail
        if name == .request, let status = failure.status {
            switch status.rawValue {
            case 400 where isPlain:
                return "where the port speaks TLS, write https://; where 400 is well, name it in check.status"
            case 401, 403: return "look at the route's auth, and at what its secret may do there"
            case 404: return "correct check.path; the upstream itself answers"
            case 407:
                return "a proxy answers: name the upstream itself in the url"
            case 429: return "it takes no more requests for now: look again later, or at what it allows"
            case 500...: return "the way there is well, and the upstream is not: look at its own health"
            default: return "where that is well, name the status in check.status"
            }
        }
        switch failure.kind {
        case .dnsError: return "correct the name in the url, or add it to the name service or to /etc/hosts"
        case .dnsTimeout: return "no name server answers: look at /etc/resolv.conf and at the network"
        case .connectionRefused:
            return "nothing listens there: start it, or correct the \(isUnix ? "path" : "port in the url")"
        case .connectionTerminated where name == .request && isPlain:
            return "where the port speaks TLS, write https:// in the url; otherwise look at its own health"
        case .connectionTimeout:
            return name == .tls
                ? "it is slow, or does not speak TLS: give it more time, or correct the port"
                : "nothing answers there: correct the address, start the machine, or open the firewall"
        case .httpResponseTimeout, .connectionReadTimeout:
            return "it takes requests and does not answer in time: look at its own health"
        case .destinationUnavailable: return "start it, or correct the path or the address"
        case .tlsAlertReceived: return "it does not take this client: look at tls.client_certificate"
        case .tlsCertificateError where name == .tls && !detail.contains(text: "; "):
            return "openssl s_client -showcerts shows the chain it sends"
        case .credentialsFailed where name == .token:
            return adviceOnToken(detail)
        default: return nil
        }
    }
}

extension OnlineFinding.Step {
    private static func adviceOnToken(_ detail: String) -> String {
        if detail.contains(text: "invalid_client") {
            return "look at client_id, client_secret and client_auth"
        }
        if detail.contains(text: "answered 429") {
            return "it gives no more tokens for now: look again later, or at what it allows"
        }
        if detail.contains(text: "answered 5") || detail.contains(text: "_timeout") {
            return "the token endpoint is not well: look at its own health"
        }
        if detail.contains(text: "could not") || detail.contains(text: "answered 2")
            || detail.contains(text: "answered 3")
        {
            return "it may be no token endpoint, or not well: look at token_url"
        }
        return "look at the credential's settings"
    }
}

extension DialReport.Step {
    fileprivate var name: EndpointStep {
        switch self {
        case .name: .name
        case .rules: .rules
        case .connect: .connect
        case .tls: .tls
        case .pins: .pins
        }
    }
}
