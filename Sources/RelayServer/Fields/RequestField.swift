import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

/// A field of a request as a parameter of the document.
struct RequestField: Sendable {
    let name: String
    let schema: Schema
    let doc: String
}
