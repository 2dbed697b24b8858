import RelayBase
import RelayJobs
import RelayRecords

extension StoreWriter {
    func begin(_ run: ActionRun, at moment: JobMoment) throws(StoreError) -> ActionRun? {
        try advance(to: moment)
        let known = try database.runs().runs
        guard known.filter({ $0.state == .running }).count < ActionRun.mostRunning else { return nil }
        var run = run
        run.number = (known.map(\.number).max() ?? 0) + 1
        let last = try database.positions()?.upperBound ?? 0
        run.scope = ActionRun.Scope(last: JobCursor(position: last), line: now)
        run.version = 1
        try keep(run)
        return run
    }

    func advance(_ number: Int64, by step: RunStep, at moment: JobMoment) throws(StoreError) -> RunAdvance? {
        guard var run = try database.run(number), run.state == .running else { return nil }
        let report = try apply(run.order(step), at: moment)
        run.add(report, at: moment.wall)
        try keep(run)
        return RunAdvance(run, report)
    }

    func end(
        _ number: Int64,
        as state: ActionRun.State,
        by: Principal?,
        failure: String?,
        at moment: JobMoment
    ) throws(StoreError) -> ActionRun? {
        guard var run = try database.run(number) else { return nil }
        guard run.state == .running else { return run }
        try advance(to: moment)
        run.end(state, by: by, failure: failure, at: moment.wall)
        try keep(run)
        return run
    }

    private func keep(_ run: ActionRun) throws(StoreError) {
        let insert = try database.statement("INSERT OR REPLACE INTO run(number, record) VALUES(?, ?)")
        insert.bind(1, run.number)
        insert.bind(2, run.sealed)
        try insert.run()
        guard run.state != .running else { return }
        for number in try database.runs().runs.forgotten {
            let delete = try database.statement("DELETE FROM run WHERE number = ?")
            delete.bind(1, number)
            try delete.run()
        }
    }
}

extension StoreReader {
    func runs() throws(StoreError) -> [ActionRun] {
        try read { () throws(StoreError) in
            let (runs, damaged) = try database.runs()
            for _ in 0..<damaged { shared.countCorrupt() }
            return runs
        }
    }
}

extension Database {
    fileprivate func run(_ number: Int64) throws(StoreError) -> ActionRun? {
        let select = try statement("SELECT record FROM run WHERE number = ?")
        select.bind(1, number)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return (try? ActionRun(sealed: select.bytes(0), number)) ?? .unreadable(number)
    }

    /// All of them by their numbers, and how many records are damaged.
    fileprivate func runs() throws(StoreError) -> (runs: [ActionRun], damaged: Int) {
        let select = try statement("SELECT number, record FROM run ORDER BY number")
        defer { select.reset() }
        var (runs, damaged): ([ActionRun], Int) = ([], 0)
        while try select.step() {
            let number = select.int(0)
            if let run = try? ActionRun(sealed: select.bytes(1), number) {
                runs.append(run)
            } else {
                damaged += 1
                runs.append(.unreadable(number))
            }
        }
        return (runs, damaged)
    }
}
