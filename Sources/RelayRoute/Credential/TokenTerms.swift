package import RelayBase
package import RelayJSON

/// The parts of a request for a token besides those that RFC 6749 names: an `audience` or a `resource`, above all.
package struct TokenRequestTerms: Sendable, Equatable {
    /// Parameters of the form.
    package var parameters = RouteQuery()
    package var fields = RouteQuery()

    package init() {}

    /// Parameters that the relay itself writes, in lower case.
    package static let ownParameters: Set<String> = [
        "client_id", "client_secret", "grant_type", "refresh_token", "scope",
    ]

    /// Fields that it writes, besides those that frame a message.
    package static let ownFields: Set<FieldName> = [
        .accept, .acceptEncoding, .authorization, .contentType, .userAgent,
    ]

    private var values: [RouteQuery.Value] { (parameters.parameters + fields.parameters).map(\.value) }

    /// The secrets it refers to.
    package var references: [SecretReference] {
        values.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
    }

    package func resolved(_ secrets: [SecretReference: Secret]) -> TokenRequestTerms {
        var terms = self
        terms.parameters = parameters.resolved(secrets)
        terms.fields = fields.resolved(secrets)
        return terms
    }

    /// The first field whose secret no message can carry.
    package var unusableField: String? {
        fields.parameters.first { _, value in
            guard case .secret(let secret) = value else { return false }
            return secret.validText == nil || !secret.bytes.allSatisfy(isFieldValueByte)
        }?.name
    }
}

/// Where the answer of a token endpoint has what; as in RFC 6749 §5.1 unless set.
package struct TokenAnswerTerms: Sendable, Equatable {
    /// The unit that a lifetime counts in.
    package enum Unit: String, CaseIterable, Sendable {
        case seconds = "s"
        case milliseconds = "ms"

        package var perSecond: Double { self == .seconds ? 1 : 1_000 }
    }

    package var token = JSONPointer(tokens: ["access_token"])
    package var lifetime = JSONPointer(tokens: ["expires_in"])
    package var lifetimeUnit = Unit.seconds
    package var refreshToken = JSONPointer(tokens: ["refresh_token"])

    package init() {}
}

extension RouteQuery.Value {
    /// As text; nil for a secret that was not read.
    package var plain: String? {
        switch self {
        case .text(let text): text
        case .secret(let secret): secret.text
        case .reference: nil
        }
    }
}
