import RelayBase
import Testing

@testable import RelayServer

@Suite("An answer comes in a form that its caller reads")
struct AcceptedTypesTests {
    @Test(
        "Events come as the caller weighs their forms",
        arguments: [
            ([], "text/event-stream"), (["*/*"], "text/event-stream"), (["text/*"], "text/event-stream"),
            (["application/x-ndjson"], "application/x-ndjson"),
            (["Application/X-NDJSON, */*"], "application/x-ndjson"),
            (["application/x-ndjson, text/event-stream"], "text/event-stream"),
            (["text/event-stream;q=0.2, application/x-ndjson;q=0.8"], "application/x-ndjson"),
            (["text/event-stream;q=0.8", "application/x-ndjson ; q=0.2"], "text/event-stream"),
            (["text/event-stream;q=0, application/x-ndjson;q=0.1"], "application/x-ndjson"),
            (["application/x-ndjson;q=0"], nil), (["text/event-stream;q=0, */*"], nil), (["text/html"], nil),
            (["application/x-ndjson;q=0, */*;q=0.1"], "text/event-stream"),
        ] as [([String], String?)]
    )
    func events(values: [String], type: String?) {
        var fields = HeaderFields()
        for value in values { fields.append("Accept", value) }
        let form = try? EventOptions.form(fields)
        #expect((form.map { "\($0.type)" }) == type)
    }

    @Test(
        "A type is preferred where everything else that is named is wanted less",
        arguments: [
            ([], false), (["text/event-stream"], true), (["Text/Event-Stream;q=0.1"], true), (["*/*"], false),
            (["application/json, text/event-stream"], false), (["text/event-stream, */*"], false),
            (["text/event-stream, */*;q=0.9"], true), (["text/event-stream;q=0"], false),
            (["application/json;q=0.2", "text/event-stream;q=0.3"], true),
            (["application/json, text/event-stream;q=0.1"], false),
        ] as [([String], Bool)]
    )
    func preference(values: [String], isPreferred: Bool) {
        var fields = HeaderFields()
        for value in values { fields.append("Accept", value) }
        #expect(AcceptedTypes(fields).prefer(MediaType.eventStream) == isPreferred)
    }
}
