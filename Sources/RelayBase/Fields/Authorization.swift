/// The value of a field `Authorization` (RFC 9110 §11.4); printing it shows the scheme and never the secret.
///
/// ```swift
/// request.http.fields.set(.authorization, try Authorization.bearer(token).fieldValue)
/// ```
public struct Authorization: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The authentication scheme: `Basic` or `Bearer`.
    public let scheme: String
    /// The whole value of the field.
    public let fieldValue: String

    /// Credentials for the scheme Basic, in UTF-8 (RFC 7617 §2).
    ///
    /// - Throws: when the user name has a colon, or the user name or the password has a control character.
    public static func basic(user: String, password: String) throws(Refusal) -> Authorization {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw Refusal("a user name for Basic has a colon", hint: "RFC 7617 §2 allows none")
        }
        guard "\(user)\(password)".utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Refusal("user name or password for Basic has a control character")
        }
        return Authorization("Basic", base64(Array("\(user):\(password)".utf8)))
    }

    /// A bearer token (RFC 6750 §2.1).
    ///
    /// - Throws: when it is empty or has a character that RFC 6750 does not allow, such as a line end or a space.
    public static func bearer(_ token: String) throws(Refusal) -> Authorization {
        let text = token.utf8.prefix(while: isBearerByte)
        let padding = token.utf8.dropFirst(text.count)
        guard !text.isEmpty, padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            throw Refusal(
                "a bearer token is empty or has a character that RFC 6750 does not allow",
                hint: "remove line ends and spaces"
            )
        }
        return Authorization("Bearer", token)
    }

    private init(_ scheme: String, _ credentials: String) {
        self.scheme = scheme
        fieldValue = "\(scheme) \(credentials)"
    }

    /// The scheme, followed by `(secret)`.
    public var description: String { "\(scheme) (secret)" }
    /// The scheme, followed by `(secret)`.
    public var debugDescription: String { description }
    /// Has no children, so that `dump` does not show the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whether `byte` may stand in a bearer token before its padding (RFC 6750 §2.1).
private func isBearerByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
        true
    default: false
    }
}
