import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

extension APICall {
    /// Tells whether the network counts as constrained, after an operator's word when the call brings one.
    func constrained(_ document: [UInt8], _ caller: Caller) throws(Problem) -> [UInt8] {
        let control = caller.server.control
        if method == .put {
            try checkJSON("a state")
            let order = try ConstrainedOrder(document: document)
            guard control.order(order, by: caller.client) else {
                throw Problem(
                    .notAllowed,
                    "the configuration gives operators no say: add {\"control\": true} to constrained.when"
                )
            }
        }
        return control.constrained()
    }
}

extension ConstrainedOrder {
    /// Reads `{"state": "on"}`, strictly.
    fileprivate init(document: [UInt8]) throws(Problem) {
        let value = try JSONValue(document, as: "the state", or: .badRequest)
        var order: ConstrainedOrder?
        var reader = SubmissionReader()
        reader.members(value, "", ["state"]) { reader, _, value in
            order = reader.string(value, "/state").flatMap(ConstrainedOrder.init)
            if order == nil { reader.fail("/state", "a state is on, off or auto") }
        }
        if order == nil, reader.errors.isEmpty { reader.fail("", "the member state is missing") }
        guard let order, reader.errors.isEmpty else {
            throw Problem(
                .badRequest,
                "expected {\"state\": \"on\"}, or off, or auto; see errors",
                errors: reader.errors
            )
        }
        self = order
    }
}
