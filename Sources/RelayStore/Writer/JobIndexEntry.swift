import RelayBase
import RelayJobs

/// A place in a list that few jobs stand in: a table of its own, so that all the others need no index for it.
struct JobIndexEntry: Equatable {
    enum List: Int64 {
        /// Unfinished jobs with a date.
        case dated = 0
        /// Unfinished jobs with a supersede key, by that.
        case superseding = 1
        /// Unfinished jobs that have failed, by kind and time of acceptance.
        case failing = 2
    }

    var list: List
    var route: Int64 = 0
    var key = ""
    /// Wall milliseconds.
    var at: Int64 = 0
}

extension JobRow {
    var marks: [JobIndexEntry] {
        guard machine.finishedAt == nil, mayBeMarked else { return [] }
        var marks: [JobIndexEntry] = []
        if date != nil { marks.append(JobIndexEntry(list: .dated)) }
        if let key = supersedeKey { marks.append(JobIndexEntry(list: .superseding, route: route, key: key)) }
        if let kind = machine.failureKind {
            marks.append(JobIndexEntry(list: .failing, route: route, key: kind.rawValue, at: created))
        }
        return marks
    }

    /// Nearly no job is.
    fileprivate var mayBeMarked: Bool { date != nil || supersedeKey != nil || machine.failureKind != nil }
}

extension StoreWriter {
    /// Moves a job between the lists; nil where there is none yet, or no more.
    func mark(_ row: JobRow?, before old: JobRow?) throws(StoreError) {
        guard row?.mayBeMarked == true || old?.mayBeMarked == true, let seq = row?.seq ?? old?.seq else {
            return
        }
        let (marks, before) = (row?.marks ?? [], old?.marks ?? [])
        for mark in before where !marks.contains(mark) {
            let delete = try database.statement(
                "DELETE FROM mark WHERE list = ? AND route = ? AND word = ? AND at = ? AND seq = ?"
            )
            try delete.run(mark, seq)
        }
        for mark in marks where !before.contains(mark) {
            let insert = try database.statement(
                "INSERT INTO mark(list, route, word, at, seq) VALUES(?, ?, ?, ?, ?)"
            )
            try insert.run(mark, seq)
        }
    }
}

extension Statement {
    fileprivate func run(_ mark: JobIndexEntry, _ seq: Int64) throws(StoreError) {
        bind(1, mark.list.rawValue)
        bind(2, mark.route)
        bind(3, mark.key)
        bind(4, mark.at)
        bind(5, seq)
        try run()
    }
}
