package import RelayBase

extension Authentication {
    package var headerName: String {
        switch form {
        case .bearer, .basic: "Authorization"
        case .header(let name): name
        }
    }

    package var fieldName: FieldName { FieldName(headerName) ?? .authorization }

    /// Nil when the secret is not UTF-8.
    package func headerValue(_ token: Token) -> String? {
        switch form {
        case .bearer: token.secret.validText.map { "Bearer " + $0 }
        case .basic(let username): "Basic " + base64(Array("\(username):".utf8) + token.secret.bytes)
        case .header: token.secret.validText
        }
    }
}
