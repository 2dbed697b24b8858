package import RelayBase
// The clock, the transport and the randomness are those that programs test with.
@_exported public import RelayTesting

extension ScriptedTransport.Step {
    /// An answer with fields that are made elsewhere.
    package static func answer(
        _ status: Status,
        _ fields: [(String, String)],
        _ text: String = ""
    ) -> ScriptedTransport.Step {
        .answer(status, ScriptedFields(fields), text)
    }
}
