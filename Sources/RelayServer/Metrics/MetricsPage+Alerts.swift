extension MetricsPage {
    /// The alerts of deploy/prometheus/waystation.rules.yml, to whose names Tests/Metrics holds this.
    static let alerts = #"""
        .Sh ALERTS
        The files of
        .Pa /usr/share/waystation/prometheus
        are for Prometheus 2.42 and later:
        .Pa prometheus.example.yml
        tells how it comes by the metrics, and
        .Pa waystation.rules.yml
        has alerts;
        .Pa alertmanager.example.yml
        has inhibit rules for Alertmanager, so that one cause is told of by one alert.
        Each names the daemon and the route, upstream, credential, directory or file it is about, and the
        command to begin with.
        Those that are critical tell that callers or kept jobs are harmed, or will be shortly; a warning
        tells of what the relay still makes up for.
        Where a bound does not fit, change a copy.
        .Pa /usr/share/waystation/grafana/waystation.json
        is a board for Grafana 9 and later.
        .Bl -tag -width Ds
        .It Cm WaystationDown Pq critical
        There have been no figures for two minutes.
        .It Cm WaystationAbsent Pq warning
        For ten minutes there has been neither a target nor a figure.
        .It Cm WaystationFiguresStale Pq warning
        The file of a textfile collector is older than five minutes.
        .It Cm WaystationRestarting Pq critical
        The daemon started more than twice anew within half an hour.
        .It Cm WaystationReloadFailed Pq warning
        The configuration was refused when it was last read, a minute ago or more.
        .It Cm WaystationRefusingWork Pq critical
        All new work has been refused for two minutes, since memory is short.
        .It Cm WaystationShedding Pq warning
        For five minutes ten requests in five minutes or more were refused for that.
        .It Cm WaystationConnectionsRefused Pq warning
        Ten connections or more were turned away within five minutes.
        .It Cm WaystationDescriptorsLow Pq warning
        For five minutes more than four fifths of the descriptors were open.
        .It Cm WaystationBodiesFull Pq warning
        For five minutes bodies took more than nine tenths of limits.memory.
        .It Cm WaystationSpoolFull Pq warning
        For five minutes copies of bodies took more than nine tenths of limits.spool.
        .It Cm WaystationJournalLost Pq warning
        Records were lost within 15 minutes.
        .It Cm WaystationJournalBlocked Pq warning
        The journal has taken no record for a minute.
        .It Cm WaystationRouteFailing Pq critical
        For two minutes more than a tenth of a route's requests failed, of 20 in five minutes or more,
        or more than half of them, of five in half an hour or more.
        .It Cm WaystationRouteStandsIn Pq warning
        For five minutes more than half of a route's answers were stand-ins.
        .It Cm WaystationNeverFailsBreached Pq critical
        A failure reached a caller of a route that never fails.
        .It Cm WaystationRequestsRefused Pq warning
        20 requests or more within five minutes met overloaded, queue_full or rate_limited.
        .It Cm WaystationRouteSaturated Pq warning
        Requests of a route have waited for permits all of ten minutes.
        .It Cm WaystationRoutePaused Pq warning
        A route has been paused for an hour.
        .It Cm WaystationUpstreamFailing Pq warning
        For two minutes more than half of an upstream's attempts failed, of 20 in five minutes or
        more, or more than four fifths of them, of five in half an hour or more.
        .It Cm WaystationBreakerOpen Pq warning
        A breaker has been open for five minutes.
        .It Cm WaystationBreakerForced Pq warning
        An operator has kept a breaker open or closed for an hour.
        .It Cm WaystationUpstreamThrottles Pq warning
        An upstream asked for patience for more than half of 15 minutes.
        .It Cm WaystationRetryBudgetExhausted Pq warning
        For five minutes ten failures in five minutes or more had no retry left.
        .It Cm WaystationRateLimited Pq warning
        For five minutes ten attempts in five minutes or more had no turn in time.
        .It Cm WaystationCredentialFailing Pq critical
        A credential that is needed cannot be fetched.
        .It Cm WaystationCredentialExpiring Pq warning
        A credential that cannot be fetched anew expires within five minutes.
        .It Cm WaystationCredentialRefused Pq critical
        Upstreams have refused a fresh credential for two minutes.
        .It Cm WaystationBacklogGrowing Pq warning
        For 15 minutes the kept jobs of a route that are due have grown by more than 50 in 15 minutes.
        .It Cm WaystationQueueNearlyFull Pq critical
        Kept jobs that are not over take four fifths of limits.max_queued_jobs.
        .It Cm WaystationJobTooOld Pq warning
        A kept job is older than an hour, on a route without jobs of a later date and without such as
        were put aside.
        .It Cm WaystationJobsExpired Pq critical
        Kept jobs expired within 15 minutes, or were found expired at a start within them.
        .It Cm WaystationDeadLetters Pq warning
        Kept jobs were given up within 15 minutes, at a start within them too.
        .It Cm WaystationStoreNearlyFull Pq warning
        For five minutes the job store took more than four fifths of its limit.
        .It Cm WaystationStoreDiskNearlyFull Pq warning
        For five minutes the disk of the job store had less than a tenth left, and less than storage.max_size.
        .It Cm WaystationStoreFilling Pq warning
        The job store is more than half full, and will be full within four hours.
        .It Cm WaystationStoreDiskFilling Pq warning
        The disk of the job store is more than half full, and will be full within four hours.
        .It Cm WaystationStoreFull Pq critical
        The job store was full for a quarter of five minutes.
        .It Cm WaystationStoreStalled Pq critical
        The disk of the job store has taken no writes for a minute.
        .It Cm WaystationStoreGone Pq critical
        A file of the job store was removed or replaced.
        .It Cm WaystationStoreUnavailable Pq critical
        The database of a fleet has been away for a minute.
        .It Cm WaystationLeaseOld Pq critical
        For a minute the lease in the database of a fleet was older than six tenths of its length.
        .It Cm WaystationSnapshotOld Pq warning
        A session has kept the same snapshot of a fleet's database for a quarter of an hour.
        .It Cm WaystationStoreErrors Pq critical
        The disk of the job store failed within 15 minutes.
        .It Cm WaystationStoreCorrupt Pq critical
        Records of the job store are damaged.
        .It Cm WaystationStoreSlow Pq warning
        For ten minutes one in a hundred commits of the job store took more than half a second.
        .El

        """#
}
