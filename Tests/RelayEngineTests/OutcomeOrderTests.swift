import RelayEngine
import Testing

@Suite("Outcomes of a stream")
struct OutcomeOrderTests {
    /// Begins as many lines as there are and ends them in the order of `ends`.
    ///
    /// - Returns: what went out at each end.
    private func reports(_ order: OutcomeOrderMachine.Order, _ ends: [Int]) -> [[Int]] {
        var machine = OutcomeOrderMachine(order, limit: ends.count)
        for _ in ends { _ = machine.began() }
        return ends.map { end in machine.ended(end, [UInt8(end)]).map { Int($0[0]) } }
    }

    @Test("In the order of completion each goes out as it ends")
    func completion() {
        #expect(reports(.completion, [3, 1, 4, 2]) == [[3], [1], [4], [2]])
    }

    @Test("In the order of the input each waits for those before it")
    func input() {
        #expect(reports(.input, [1, 2, 3]) == [[1], [2], [3]])
        #expect(reports(.input, [3, 1, 4, 2]) == [[], [1], [], [2, 3, 4]])
        #expect(reports(.input, [4, 3, 2, 1]) == [[], [], [], [1, 2, 3, 4]])
    }

    @Test(
        "An outcome that is held back keeps its place; one that went out makes room",
        arguments: [1, 2, 64]
    )
    func room(limit: Int) {
        var machine = OutcomeOrderMachine(.input, limit: limit)
        for line in 1...limit {
            #expect(machine.hasRoom)
            let number = machine.began()
            #expect(number == line)
        }
        for line in (1...limit).dropFirst().reversed() {
            let ready = machine.ended(line, [])
            #expect(ready.isEmpty && !machine.hasRoom)
        }
        let ready = machine.ended(1, [])
        #expect(ready.count == limit && machine.hasRoom && machine.isIdle)
        #expect(machine.lastLine == limit)
    }

    @Test("Every line has one outcome, in its order, whatever ends first", arguments: 0..<50)
    func generated(seed: Int) {
        var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let limit = 1 + random(8)
        var machine = OutcomeOrderMachine(.input, limit: limit)
        var running: [Int] = []
        var out: [UInt8] = []
        while out.count < 200 {
            if machine.hasRoom, machine.lastLine < 200, running.isEmpty || random(2) == 0 {
                running.append(machine.began())
            } else if !running.isEmpty {
                let line = running.remove(at: random(running.count))
                out += machine.ended(line, [UInt8(line)]).map { $0[0] }
            }
            #expect(machine.isIdle == running.isEmpty)
            #expect(machine.lastLine - out.count <= limit)
        }
        #expect(out == (1...200).map { UInt8($0) })
    }
}
