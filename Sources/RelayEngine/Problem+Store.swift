package import RelayCore

extension Problem {
    /// The disk did not answer in time.
    package static func stalled(_ route: String, hasKey: Bool = false) -> Problem {
        let again =
            hasKey
            ? "send it again with the same key: it is the same job, or takes its place"
            : "as far as is known the job was not accepted: send it again"
        var problem = Problem(
            .storageStalled,
            "the disk of the job store takes no writes at the moment; \(again)"
        )
        problem.route = route
        problem.retryAfter = .seconds(5)
        return problem
    }

    /// The disk did not do in time what somebody asked of the jobs or routes.
    static func stalled(hasBegun: Bool) -> Problem {
        let rest =
            hasBegun
            ? "what was asked is carried out as soon as it does, unless the relay ends before; look before you ask again"
            : "nothing was done; ask again"
        var problem = Problem(
            .storageStalled,
            "the disk of the job store takes no writes at the moment; \(rest)"
        )
        problem.retryAfter = .seconds(5)
        return problem
    }

    /// The disk does not give what was kept.
    package static var unreadNow: Problem {
        var problem = Problem(
            .storageStalled,
            "the disk of the job store does not answer at the moment; ask again"
        )
        problem.retryAfter = .seconds(5)
        return problem
    }

    /// What a caller is told when the store could not do what was asked.
    package init(_ error: StoreError, route: String? = nil) {
        switch error.code {
        case .full: self.init(.storageFull, error.message)
        case .corrupt: self.init(.storageCorrupt, error.message)
        case .newerSchema, .locked, .directory, .failed, .slow, .closed:
            self.init(.storageFailed, error.message)
        }
        self.route = route
        switch error.code {
        case .full: retryAfter = .seconds(60)
        // The disk will not hold it later either.
        case .corrupt: break
        case .newerSchema, .locked, .directory, .failed, .slow, .closed: retryAfter = .seconds(5)
        }
    }
}

extension Problem {
    static func noJob(_ id: JobID) -> Problem {
        var problem = Problem(
            .jobNotFound,
            "there is no job \(id); jobs are removed when their retention is over"
        )
        problem.job = id
        return problem
    }
}
