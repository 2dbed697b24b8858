// Declarations in the shape of swift-http-types 1: as much as the glue touches.
enum HTTPTypes {
    struct HTTPField: Sendable {
        struct Name: Sendable, Hashable {
            let rawName: String

            init?(_ name: String) {
                guard !name.isEmpty else { return nil }
                rawName = name
            }
        }

        let name: Name
        let value: String
    }

    struct HTTPFields: Sendable, Sequence {
        private let fields: [HTTPField]

        init(_ fields: some Sequence<HTTPField>) { self.fields = Array(fields) }

        func makeIterator() -> IndexingIterator<[HTTPField]> { fields.makeIterator() }
    }

    struct HTTPRequest: Sendable {
        struct Method: Sendable {
            let rawValue: String
        }

        var method: Method
        var path: String?
        var headerFields: HTTPFields
    }

    struct HTTPResponse: Sendable {
        struct Status: Sendable {
            let code: Int
        }

        var status: Status
        var headerFields: HTTPFields
    }
}
