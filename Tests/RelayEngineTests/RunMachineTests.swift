import RelayBase
import RelayJobs
import Testing

@testable import RelayEngine

@Suite("When a run takes its next page")
struct RunMachineTests {
    private let start = Instant(nanoseconds: 5_000_000_000)
    private let wall: Int64 = 1_800_000_000_000

    private func run(_ rate: String? = nil) -> ActionRun {
        var run = ActionRun(.retry, JobFilter(), by: nil, at: wall)
        (run.rate, run.version) = (rate.flatMap { ActionRate($0) }, 1)
        return run
    }

    private func advanced(_ run: ActionRun, changed: Int) -> ActionRun {
        var run = run
        run.count.changed += changed
        run.version += 1
        return run
    }

    @Test("Without a rate one page follows the other, with the pauses of the moment")
    func atOnce() {
        var machine = RunMachine(run(), start, wall: wall)
        let step = RunMachine.Order.step(RunStep(limit: ActionRun.page, pausedRoutes: ["a"]))
        #expect(machine.next(start, pausedRoutes: ["a"]) == step)
        machine.advanced(advanced(machine.run, changed: 500), start)
        #expect(machine.next(start, pausedRoutes: ["a"]) == step)
        var over = machine.run
        over.end(.done, at: wall)
        machine.advanced(over, start)
        #expect(machine.next(start, pausedRoutes: []) == .end)
    }

    @Test(
        "A page of a run with a rate has the jobs of a second, at least one, and the next comes when they are due",
        arguments: [
            ("50/s", 50, 50, Duration.seconds(1)), ("50/s", 50, 5, .milliseconds(100)),
            ("50/s", 50, 0, .zero), ("90/m", 1, 1, .nanoseconds(666_666_666)), ("5/h", 1, 1, .seconds(720)),
            ("2000/s", 500, 500, .milliseconds(250)),
        ]
    )
    func rate(text: String, limit: Int, changed: Int, wait: Duration) throws {
        var machine = RunMachine(run(text), start, wall: wall)
        guard case .step(let step) = machine.next(start, pausedRoutes: []) else {
            Issue.record("it does not begin")
            return
        }
        #expect(step.limit == limit && step.spacing?.first == .zero)
        #expect(step.spacing?.interval == ActionRate(text)?.interval)
        machine.advanced(advanced(machine.run, changed: changed), start)
        let due = start.advanced(by: wait)
        if wait > .zero {
            #expect(machine.next(start, pausedRoutes: []) == .wait(until: due))
            #expect(machine.next(due.advanced(by: .nanoseconds(-1)), pausedRoutes: []) == .wait(until: due))
        }
        #expect(machine.next(due, pausedRoutes: []) == .step(step))
    }

    @Test("A page that came late does not slow the run, and what was missed long ago is not made up for")
    func late() {
        var machine = RunMachine(run("50/s"), start, wall: wall)
        machine.advanced(advanced(machine.run, changed: 50), start.advanced(by: .milliseconds(300)))
        let second = start.advanced(by: .seconds(1))
        #expect(machine.next(start, pausedRoutes: []) == .wait(until: second))
        let late = start.advanced(by: .seconds(60))
        machine.advanced(advanced(machine.run, changed: 50), late)
        #expect(machine.next(late, pausedRoutes: []) != .end)
        machine.advanced(advanced(machine.run, changed: 50), late)
        #expect(machine.next(late, pausedRoutes: []) == .wait(until: late.advanced(by: .seconds(1))))
    }

    @Test(
        "A store that does not do it is asked again after a while, each time a longer one, half a minute at most"
    )
    func refused() {
        var machine = RunMachine(run(), start, wall: wall)
        var now = start
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            machine.refused(now)
            let due = now.advanced(by: .seconds(seconds))
            #expect(machine.next(now, pausedRoutes: []) == .wait(until: due))
            now = due
        }
        machine.advanced(advanced(machine.run, changed: 1), now)
        machine.refused(now)
        #expect(machine.next(now, pausedRoutes: []) == .wait(until: now.advanced(by: .seconds(1))))
    }

    @Test(
        "After a restart it waits as long as its rate wants, and a clock that has stepped does not stretch that"
    )
    func restarted() {
        var waiting = run("5/h")
        waiting.next = wall + 100_000
        let machine = RunMachine(waiting, start, wall: wall)
        #expect(machine.next(start, pausedRoutes: []) == .wait(until: start.advanced(by: .seconds(100))))
        let stepped = RunMachine(waiting, start, wall: wall - 86_400_000)
        #expect(stepped.next(start, pausedRoutes: []) == .wait(until: start.advanced(by: .seconds(720))))
        let late = RunMachine(waiting, start, wall: wall + 200_000)
        #expect(late.next(start, pausedRoutes: []) != .wait(until: start))
    }

    @Test("Older news than it has are none")
    func older() {
        var machine = RunMachine(run(), start, wall: wall)
        let news = advanced(machine.run, changed: 3)
        machine.advanced(news, start)
        machine.advanced(run(), start)
        #expect(machine.run == news)
    }
}
