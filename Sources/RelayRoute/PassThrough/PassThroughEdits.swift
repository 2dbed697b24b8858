import RelayBase

/// The fields that every request of a route loses, and those that need the ordinary path.
package struct PassThroughEdits: Sendable {
    /// Names in lower case.
    package let dropped: [[UInt8]]
    package let refused: [[UInt8]]
    package let isEmpty: Bool
    /// Whether `traceparent`, `tracestate` and `baggage` stay here.
    package let keepsTrace: Bool

    init(_ route: Route) {
        let policy = route.policy
        keepsTrace = policy.request.propagation == .none
        var names = policy.request.setFields.map { Array($0.name.lowercased().utf8) }
        names += policy.request.removeFields.map(\.bytes)
        for step in policy.prepare { names += step.fields.map { Array($0.name.lowercased().utf8) } }
        if let authentication = policy.authentication { names.append(authentication.fieldName.bytes) }
        // An answer that is looked into must be readable, whatever coding the caller would have taken.
        if route.inspectsBody { names.append(FieldName.acceptEncoding.bytes) }
        dropped = Array(Set(names))
        // A key of the caller's own stands in for one that is generated; a part of a coded answer cannot be read.
        // One that is left out, or sent by another name, is a kept job's that the relay has understood.
        let movesKey = !policy.idempotency.forwards || route.keyField != .idempotencyKey
        refused =
            (policy.idempotency.generates ? route.keyFields.map(\.bytes) : [])
            + (movesKey ? [FieldName.idempotencyKey.bytes] : [])
            + (route.inspectsBody ? [FieldName.range.bytes] : [])
        isEmpty = dropped.isEmpty && refused.isEmpty
    }

    /// Fields that frame a message or name its hop: a route that edits one of these takes the ordinary path.
    private static let framing: Set<[UInt8]> = Set(
        [
            "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "via",
            "expect",
        ]
        .map { Array($0.utf8) }
    )

    var isPlain: Bool { Self.framing.isDisjoint(with: dropped) }
}
