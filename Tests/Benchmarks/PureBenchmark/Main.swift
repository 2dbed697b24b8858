import RelayBase
import RelayHTTP

/// Times pure code that every request passes, and prints one JSON line each: `heads` of RelayHTTP, the `decision` of the
/// core; `decisions COUNT` only takes so many, for whoever counts what they allocate.
@main
struct Main {
    private static let request = Array(
        """
        POST /r/billing/orders/7?full=1 HTTP/1.1\r
        Host: localhost\r
        User-Agent: shop/1.0\r
        Accept: application/json\r
        Content-Type: application/json\r
        Content-Length: 500\r
        Idempotency-Key: 0d6d1c9e-6f0e-4f5e-9a35-2d5b3b1a7c11\r
        Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r
        \r

        """.utf8
    )

    private static let response = Array(
        """
        HTTP/1.1 200 OK\r
        Date: Sun, 06 Nov 1994 08:49:37 GMT\r
        Server: upstream\r
        Content-Type: application/json\r
        Content-Length: 1024\r
        ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"\r
        Cache-DaemonControl: no-store\r
        Connection: keep-alive\r
        \r

        """.utf8
    )

    static func main() {
        var decision = Decision()
        switch CommandLine.arguments.dropFirst().first {
        case "decision": measure("decide what follows a 503") { decision() }
        case "decisions":
            var sum = 0
            for _ in 0..<(Int(CommandLine.arguments.last ?? "") ?? 0) { sum &+= decision() }
            print(sum)
        default: measureHeads()
        }
    }

    private static func measureHeads() {
        var requestParser = RequestHeadParser()
        measure("request head, 7 fields") {
            guard case .head(_, let consumed)? = try? requestParser.parse(request.span) else { return 0 }
            return consumed
        }
        var responseParser = ResponseHeadParser(requestMethod: .post)
        measure("response head, 7 fields") {
            guard case .head(_, let consumed)? = try? responseParser.parse(response.span) else { return 0 }
            return consumed
        }
        guard case .head(let head, _)? = try? requestParser.parse(request.span) else { return }
        var output = OutputBuffer()
        measure("write a request head, 7 fields") {
            output.removeAll()
            HeadWriter.appendRequestLine(head.method, head.target, to: &output)
            HeadWriter.appendFields(head.fields, to: &output) { head.fields.isHopByHop($0) }
            HeadWriter.appendLineEnd(to: &output)
            return output.count
        }
        measure("remove hop-by-hop fields where there are none") { head.fields.removingHopByHop().count }
        measure("check a relay target") { (try? RelayTarget.parse(head.target).remainder.utf8.count) ?? 0 }
        let chunks =
            Array("400\r\n".utf8) + [UInt8](repeating: 120, count: 1_024) + Array("\r\n0\r\n\r\n".utf8)
        var content: [UInt8] = []
        measure("decode a 1 KiB chunk and the last one") {
            content.removeAll(keepingCapacity: true)
            var decoder = BodyDecoder(framing: .chunked)
            return (try? decoder.decode(chunks.span, into: &content).consumed) ?? 0
        }
        measure("format a date") { IMFDate.format(784_111_777).count }
    }

    /// Runs `body` 21 times in batches of 20,000 and prints the median time of one run.
    private static func measure(_ name: String, _ body: () -> Int) {
        var sum = 0
        var timings: [Int64] = []
        for _ in 0..<21 {
            let elapsed = ContinuousClock().measure {
                for _ in 0..<20_000 { sum &+= body() }
            }
            timings.append(elapsed.saturatedNanoseconds / 20_000)
        }
        timings.sort()
        print(
            #"{"benchmark":"\#(name)","median_ns":\#(timings[10]),"min_ns":\#(timings[0]),"check":\#(sum)}"#
        )
    }
}
