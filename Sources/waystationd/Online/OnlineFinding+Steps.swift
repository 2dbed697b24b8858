import RelayBase
import RelayTransport

// The sentences of the steps, and what there is to do.
extension OnlineFinding {
    /// Takes over what was seen while a connection was made.
    mutating func take(_ report: DialReport, shortLife: Int) {
        address = report.address
        daysLeft = report.certificate?.daysLeft
        for (index, (step, time)) in report.steps.enumerated() {
            if let failure = report.failure, index == report.steps.count - 1 {
                add(.failed(step.name, failure, time, of: nil, after: report.faults.dropLast()))
            } else {
                add(seen(step, time, report, shortLife))
            }
        }
        // Nothing was begun.
        if report.steps.isEmpty, let failure = report.failure {
            add(.failed(.connect, failure, .zero, of: nil))
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
            seen.mark = .warning
            seen.detail += ", and others were tried in vain: \(report.faults.joined(separator: "; "))"
            seen.advice = "each new connection tries them, too: mend them, or have the name not lead there"
        case .tls: tell(report, shortLife, &seen)
        case .pins:
            seen.detail = report.missedPins ? "no pinned key is in the chain" : "a pinned key is in the chain"
            guard report.missedPins else { break }
            seen.mark = .warning
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
        let isShown = endpoint.showsCertificate
        if certificate.isClientAsked, isShown { step.detail += ", and the client certificate was shown" }
        if days < shortLife {
            step.mark = .warning
            step.advice = "have a certificate of the chain renewed: after that no request gets through"
        }
        if certificate.isClientAsked, !isShown {
            step.mark = .warning
            step.detail += ", and a client certificate was asked for"
            step.advice = "where it must be shown, name one: tls.client_certificate"
        }
    }
}

extension OnlineFinding.Step {
    static func failed(
        _ name: OnlineFinding.StepName,
        _ failure: Failure,
        _ time: Duration,
        of owner: String?,
        after others: ArraySlice<String> = []
    ) -> OnlineFinding.Step {
        let before = others.isEmpty ? "" : " (before that: \(others.joined(separator: "; ")))"
        return OnlineFinding.Step(
            name: name,
            mark: .failed,
            time: time,
            detail: (owner.map { "\($0): " } ?? "") + failure.detail + before,
            advice: advice(name, failure)
        )
    }

    /// There was no time for it.
    static func late(_ name: OnlineFinding.StepName, _ what: String, _ limit: Duration) -> OnlineFinding.Step
    {
        OnlineFinding.Step(
            name: name,
            mark: .failed,
            detail: "\(what) was not seen within --timeout (\(DurationText.text(limit)))",
            advice: "give it more time"
        )
    }

    /// Nil where the failure says it by itself.
    private static func advice(_ name: OnlineFinding.StepName, _ failure: Failure) -> String? {
        if name == .request, let status = failure.status {
            switch status.rawValue {
            case 401, 403: return "look at the route's auth, and at what its secret may do there"
            case 404: return "correct check.path; the upstream itself answers"
            case 500...: return "the way there is well, and the upstream is not: look at its own health"
            default: return "where that is well, name the status in check.status"
            }
        }
        switch failure.kind {
        case .dnsError: return "correct the name in the url, or add it to the name service or to /etc/hosts"
        case .dnsTimeout: return "no name server answers: look at /etc/resolv.conf and at the network"
        case .connectionRefused: return "nothing listens there: start it, or correct the port in the url"
        case .connectionTimeout:
            return name == .tls
                ? "it takes connections and does not speak TLS: correct the port, or write http:// where it is plain"
                : "nothing answers there: correct the address, start the machine, or open the firewall"
        case .httpResponseTimeout, .connectionReadTimeout:
            return "it takes requests and does not answer in time: look at its own health"
        case .destinationUnavailable: return "start it, or correct the path or the address"
        case .tlsAlertReceived: return "it does not take this client: look at tls.client_certificate"
        case .tlsCertificateError where name == .tls && !failure.detail.contains(text: "; "):
            return "openssl s_client -showcerts shows the chain it sends"
        case .credentialsFailed where name == .token:
            return failure.detail.contains(text: "invalid_client")
                ? "look at client_id, client_secret and client_auth" : "look at the credential's settings"
        default: return nil
        }
    }
}

extension DialReport.Step {
    fileprivate var name: OnlineFinding.StepName {
        switch self {
        case .name: .name
        case .rules: .rules
        case .connect: .connect
        case .tls: .tls
        case .pins: .pins
        }
    }
}
