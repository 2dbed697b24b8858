import RelayTestSupport
import Testing

@testable import RelayCore

@Suite("The books of a job stream")
struct JobStreamMachineTests {
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

    private func outcome(_ index: Int) -> JobOutcome<Int> {
        JobOutcome(id: "job \(index)", result: .success(index), source: .upstream, attempts: [])
    }

    @Test(
        "Whatever happens, the machine says what a list of jobs says",
        arguments: [0, 1, 2, 3, 8],
        JobOrder.allCases
    )
    func walk(limit: Int, order: JobOrder) {
        for seed in 1...20 as ClosedRange<UInt64> {
            let random = SeededEntropy(seed: seed)
            var machine = JobStreamMachine<Int>(limit: limit, order: order)
            var model = Model()
            for _ in 0..<300 {
                switch random.next() % 3 {
                case 0:
                    guard machine.hasPlace else { break }
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
                    machine.ended(outcome(index), at: index)
                    model.jobs[index].isRunning = false
                    model.ended.append(index)
                default:
                    let taken = machine.take()
                    #expect(taken?.index == model.next(order))
                    guard let taken else { break }
                    #expect(taken.id == "job \(taken.index)")
                    model.jobs[taken.index].isTaken = true
                }
                #expect(machine.hasPlace == (model.open < max(1, limit)))
                #expect(machine.isIdle == (model.open == 0) && machine.begun == model.jobs.count)
            }
            #expect(model.jobs.count > 10)
        }
    }
}
