import RelayBase
import Testing

@Suite("Kinds of failures and their groups")
struct FailureKindTests {
    @Test(
        "Every kind of the relay's own is known once, and its name makes the same kind with the same groups"
    )
    func named() {
        let known = FailureKind.known
        #expect(Set(known.map(\.rawValue)).count == known.count)
        for kind in known {
            let named = FailureKind(rawValue: kind.rawValue)
            #expect(named == kind && named.hashValue == kind.hashValue)
            #expect(FailureGroup.allCases.allSatisfy { $0.contains(named) == $0.contains(kind) })
        }
    }

    @Test(
        "Each group has its kinds, and no kind that a program names",
        arguments: [
            (
                FailureGroup.connection,
                "dns_timeout dns_error destination_unavailable connection_refused connection_terminated "
                    + "connection_timeout connection_limit_reached"
            ),
            (
                .timeout,
                "dns_timeout connection_timeout connection_read_timeout connection_write_timeout "
                    + "http_response_timeout"
            ),
            (.dns, "dns_timeout dns_error"),
            (.tls, "tls_protocol_error tls_certificate_error tls_alert_received"),
            (
                .protocol,
                "http_response_incomplete http_protocol_error http_response_body_size "
                    + "http_response_header_section_size http_response_content_coding"
            ),
        ]
    )
    func groups(group: FailureGroup, names: String) {
        #expect(
            FailureKind.known.filter(group.contains).map(\.rawValue)
                == names.split(separator: " ").map(String.init)
        )
        #expect(!group.contains("card_declined"))
    }
}
