import RelayBase
package import RelayJobs

extension RoutePause {
    private static let layout: UInt64 = 1

    package static let unreadable = RoutePause(
        reason: "the record of this pause is damaged; resume the route when it may send again",
        began: 0
    )

    package func sealed(_ route: String) -> [UInt8] {
        var writer = RecordWriter()
        writer.add(Self.layout)
        writer.add(route)
        writer.add(reason)
        writer.add(began)
        writer.add(until != nil)
        writer.add(until ?? 0)
        writer.add(rule)
        // Behind the rest, so that records from before it are read as they are.
        if let by {
            writer.add(UInt64(by.user))
            writer.add(by.name)
            if let node = by.node.text { writer.add(node) }
        }
        return writer.sealed(at: 0)
    }

    package static func read(
        _ bytes: [UInt8]
    ) throws(RecordReader.Damage) -> (route: String, pause: RoutePause) {
        var reader = try RecordReader(sealed: bytes, at: 0)
        guard try reader.number() == Self.layout else { throw RecordReader.Damage() }
        let route = try reader.text()
        let reason = try reader.text()
        let began = try reader.signed()
        let isBounded = try reader.flag()
        let until = try reader.signed()
        let rule = try reader.optionalText()
        var pause = RoutePause(reason: reason, began: began, until: isBounded ? until : nil, rule: rule)
        if !reader.isAtEnd {
            let user = UInt32(truncatingIfNeeded: try reader.number())
            pause.by = Principal(user, name: try reader.optionalText())
            if !reader.isAtEnd { pause.by?.node = NodeName(try reader.text()) }
        }
        return (route, pause)
    }
}
