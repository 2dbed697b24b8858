import RelayBase
import RelayRoute
import RelayTestSupport
import RelayTesting

// The answers of an upstream that begins an operation and tells of it, and a route that follows it.

let begun = ScriptedTransport.Step.answer(202, ["Operation-Location": "/ops/7?v=1"], #"{"id":7}"#)
let running = ScriptedTransport.Step.answer(200, [:], #"{"status":"Running"}"#)
let succeeded = ScriptedTransport.Step.answer(200, [:], #"{"status":"Succeeded","at":"/result/7"}"#)
let failed = ScriptedTransport.Step.answer(200, [:], #"{"status":"failed"}"#)

func following(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
    makeRoute {
        $0.following = Following()
        // The operations of these answers stand beside the base of the upstream.
        $0.following?.below = "/"
        $0.recovery = [rule("again", ["any"], retry(5, methods: .any))]
        change(&$0)
    }
}
