import RelayBase
import RelayInterface
import RelayJSON

/// Prints jobs as rows.
struct JobList {
    let style: ListStyle

    /// Prints the jobs of `query`, a page at a time, so that a long list takes no memory.
    func print(_ query: JobQuery, of daemon: DaemonAccess) throws(CommandFailure) {
        let progress = Progress("reading jobs")
        defer { progress.end() }
        var pages = JobPages(daemon, query)
        var rows: [JSONValue] = []
        var count = 0
        if style.format == .json { Output.standard.write("{\"jobs\":[") }
        while let page = try pages.page() {
            progress.update("reading jobs: \(count + page.count)")
            if style.format == .table {
                // A table's columns are as wide as its widest cells: a very long one is printed in parts.
                rows += page
                if rows.count >= JobList.part {
                    guard printTable(rows, isFirst: count < JobList.part, progress) else { return }
                    rows = []
                }
            } else {
                guard Output.standard.reaches(bytes(page, isFirst: count == 0)) else { return }
            }
            count += page.count
        }
        progress.end()
        switch style.format {
        case .json:
            let next = pages.next.map { JSONValue.string($0) } ?? .null
            Output.standard.write(Array("],\"next\":".utf8) + next.encoded() + Array("}\n".utf8))
        case .table:
            if count == 0 {
                Output.error.write("There are no such jobs\(kindHint(query.kind)).\n")
            } else if !rows.isEmpty {
                _ = printTable(rows, isFirst: count <= JobList.part, progress)
                notePauses(of: rows, daemon)
            }
            daemon.noteOwnJobs()
            if pages.next != nil, count > 0 {
                Output.error.write("There may be more: --limit N or --limit all shows them.\n")
            }
        case .ndjson, .name: break
        }
    }

    private static let part = 5_000

    /// Says which of the jobs wait for their route to go on, or to come back, where the caller may know.
    private func notePauses(of jobs: [JSONValue], _ daemon: DaemonAccess) {
        let views = jobs.map(JobDocument.init)
        let waiting = Set(views.filter { !$0.isOver }.map(\.route))
        guard !waiting.isEmpty, let (_, document) = try? daemon.document(.get, "/v1/routes") else { return }
        for route in document["routes"]?.elements ?? [] {
            let view = RouteDocument(route, style.moments)
            guard waiting.contains(view.name) else { continue }
            if route["state"]?.text == "unconfigured" {
                Output.error.write(
                    "The configuration has no route \(view.name): its jobs wait until it has.\n"
                )
            } else if let pause = view.pause {
                Output.error.write(
                    "Route \(view.name) is \(pause); its jobs wait for: "
                        + daemon.advice("resume \(view.name)") + "\n"
                )
            } else if let closed = view.closed {
                Output.error.write("Route \(view.name) is \(closed); its jobs wait.\n")
            }
        }
    }

    private func bytes(_ page: [JSONValue], isFirst: Bool) -> [UInt8] {
        switch style.format {
        case .json:
            let list = page.map { $0.encoded() }.joined(separator: [UInt8(ascii: ",")])
            return (isFirst || page.isEmpty ? [] : [UInt8(ascii: ",")]) + list
        case .ndjson: return page.flatMap(\.line)
        case .name, .table: return page.flatMap { Array((safe($0["id"]?.text ?? "?") + "\n").utf8) }
        }
    }

    private func printTable(_ jobs: [JSONValue], isFirst: Bool, _ progress: Progress) -> Bool {
        progress.end()
        let table = table(jobs)
        return Output.standard.reaches(Array((isFirst ? style.text(of: table) : table.rowsText).utf8))
    }

    func table(_ jobs: [JSONValue]) -> TextTable {
        var table = TextTable([
            ("ID", .left), ("ROUTE", .left), ("STATE", .left), ("REASON", .left), ("ATTEMPTS", .right),
            ("AGE", .right), ("NEXT", .right), ("FAILED BY", .left), ("REQUEST", .left), ("LABELS", .left),
        ])
        for job in jobs {
            let view = JobDocument(job)
            table.add([
                view.id, view.route, view.state, view.reason ?? "–", view.attempts,
                style.moments.age(view.job.createdAt),
                view.hasNextAttempt ? style.moments.until(view.job.dueAt) : "–", view.failureKind ?? "–",
                view.request, view.labels,
            ])
        }
        return table
    }
}
