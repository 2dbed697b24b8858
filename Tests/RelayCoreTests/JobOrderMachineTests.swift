import RelayTestSupport
import Testing

@testable import RelayCore

@Suite("The books of a job stream")
struct JobOrderMachineTests {
    /// The same, said as plainly as can be.
    private struct Model {
        struct Job {
            let key: String?
            var isRunning = true
            var isSuperseded = false
            var isTaken = false
        }

        var jobs: [Job] = []
        var ended: [Int] = []

        var open: Int { jobs.count { !$0.isTaken } }
        var running: [Int] { jobs.indices.filter { jobs[$0].isRunning } }

        func next(_ order: JobOrder) -> Int? {
            switch order {
            case .completion: return ended.first { !jobs[$0].isTaken }
            case .input:
                guard let first = jobs.indices.first(where: { !jobs[$0].isTaken }), !jobs[first].isRunning
                else {
                    return nil
                }
                return first
            }
        }
    }

    @Test(
        "The machine says what a list of jobs says, whatever happens",
        arguments: [0, 1, 2, 3, 8],
        JobOrder.allCases
    )
    func walk(limit: Int, order: JobOrder) {
        for seed in 1...20 as ClosedRange<UInt64> {
            let random = SeededEntropy(seed: seed)
            var machine = JobOrderMachine<String>(limit: limit, order: order)
            var model = Model()
            for _ in 0..<300 {
                switch random.next() % 3 {
                case 0:
                    guard machine.mayBegin else { break }
                    let key = ["a", "b", nil][Int(random.next() % 3)]
                    let superseded = model.running.last {
                        key != nil && model.jobs[$0].key == key && !model.jobs[$0].isSuperseded
                    }
                    let began = machine.began(key: key)
                    #expect(began.index == model.jobs.count && began.superseded == superseded)
                    if let superseded { model.jobs[superseded].isSuperseded = true }
                    model.jobs.append(Model.Job(key: key))
                case 1:
                    guard !model.running.isEmpty else { break }
                    let index = model.running[Int(random.next() % UInt64(model.running.count))]
                    model.jobs[index].isRunning = false
                    model.ended.append(index)
                    let isNext = model.next(order) == index
                    #expect(machine.isNext(index) == isNext)
                    if isNext, random.next() % 2 == 0 {
                        machine.endedInOrder(index)
                        model.jobs[index].isTaken = true
                    } else {
                        machine.ended("job \(index)", at: index)
                    }
                default:
                    let taken = machine.take()
                    #expect(taken?.index == model.next(order))
                    guard let taken else { break }
                    #expect(taken.outcome == "job \(taken.index)")
                    model.jobs[taken.index].isTaken = true
                }
                #expect(machine.isReady == (model.next(order) != nil))
                #expect(machine.mayBegin == (model.open < max(1, limit)))
                #expect(machine.isIdle == (model.open == 0) && machine.begun == model.jobs.count)
            }
            #expect(model.jobs.count > 10)
        }
    }

    /// Begins as many jobs as there are and ends them in the order of `ends`.
    ///
    /// - Returns: what may be reported after each end.
    private func reports(_ order: JobOrder, _ ends: [Int]) -> [[Int]] {
        var machine = JobOrderMachine<Int>(limit: ends.count, order: order)
        for _ in ends { _ = machine.began() }
        return ends.map { end in
            machine.ended(end, at: end)
            var ready: [Int] = []
            while let next = machine.take() { ready.append(next.outcome) }
            return ready
        }
    }

    @Test("In the order of completion each goes out as it ends, in that of the input after those before it")
    func orders() {
        #expect(reports(.completion, [2, 0, 3, 1]) == [[2], [0], [3], [1]])
        #expect(reports(.input, [0, 1, 2]) == [[0], [1], [2]])
        #expect(reports(.input, [2, 0, 3, 1]) == [[], [0], [], [1, 2, 3]])
        #expect(reports(.input, [3, 2, 1, 0]) == [[], [], [], [0, 1, 2, 3]])
    }

    @Test(
        "However long a stream is, its books hold no more than its limit, and nothing at the end",
        arguments: [1, 2, 64],
        JobOrder.allCases
    )
    func bound(limit: Int, order: JobOrder) {
        func held(_ machine: JobOrderMachine<Int>) -> Int {
            Mirror(reflecting: machine).children.compactMap { ($0.value as? any Collection)?.count }.max()
                ?? 0
        }
        let random = SeededEntropy(seed: 7)
        var machine = JobOrderMachine<Int>(limit: limit, order: order)
        var running: [Int] = []
        var reported = 0
        while reported < 2_000 {
            if machine.mayBegin, running.isEmpty || random.next() % 2 == 0 {
                running.append(machine.began(key: "\(machine.begun % 3)").index)
            } else if !running.isEmpty {
                let index = running.remove(at: Int(random.next() % UInt64(running.count)))
                machine.ended(index, at: index)
            }
            #expect(held(machine) <= limit)
            if running.isEmpty || random.next() % 2 == 0 {
                while machine.take() != nil { reported += 1 }
            }
        }
        for index in running { machine.ended(index, at: index) }
        while machine.take() != nil {}
        #expect(machine.isIdle && held(machine) == 0)
    }
}
