import RelayKit
import RelayTesting

/// How a service waits that is refused once: nothing is sent, and no time passes.
func waitsAfterARefusal(_ policy: RoutePolicy) async throws -> [Duration] {
    let script = ScriptedTransport(.answer(503, ["Retry-After": "2"]), .answer(200, [:], "hello"))
    let time = VirtualTime()
    let service = try RelayService(policy, transport: script, time: time, entropy: SeededEntropy())
    _ = try await service.execute(PlainRequest<String>(.get, "hello"))
    return time.waits
}
