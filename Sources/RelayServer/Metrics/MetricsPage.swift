/// waystationd-metrics(7), made from the table of metrics.
package enum MetricsPage {
    package static var text: String { head + list + alerts + tail }

    private static let head = #"""
        .Dd November 23, 2026
        .Dt WAYSTATIOND-METRICS 7
        .Os
        .Sh NAME
        .Nm waystationd-metrics
        .Nd what waystationd tells Prometheus
        .Sh SYNOPSIS
        .Nm curl
        .Fl -unix-socket Pa /run/waystation/control.sock
        .Li http://relay/metrics
        .Nm waystation
        .Cm metrics
        .Sh DESCRIPTION
        .Xr waystationd 8
        tells its metrics at
        .Pa /metrics
        of the control socket, and of any listener whose role is metrics, read, operate or admin.
        A listener with the role metrics serves nothing else, so it may be a port of the loopback, which every user of the
        machine can read; it has 32 connections and no more:
        .Bd -literal
        { "name": "prometheus", "tcp": "127.0.0.1:9464", "role": "metrics" }
        .Ed
        .Pp
        Counters begin at zero with the daemon, and outlive a reload; those of a route are told while the configuration has
        it.
        Those that alerts go by are there from the start, and so are the others but for what can happen in many ways:
        failed attempts by kind, requests that were rejected by code or not passed through by reason appear with the first.
        So do the durations of what need not happen on a route: lives, starts and retries of kept jobs, waits for permits,
        connections.
        A route with one upstream has no more than 90 series before anything has happened, and 180 when each thing has,
        but for the codes of rejected requests.
        Attempts count when their request is over, or the run of their kept job.
        How many kept jobs there are is as of the last second.
        A text that took long to make is given out for ten times as long, to whoever asks.
        Labels hold words of the configuration and of
        .Xr waystationd-api 7 ,
        and where the configuration and the job store are: no job, no path of a request and no user.
        .Pp
        Buckets of what callers wait end at 1, 2.5, 5, 10, 25, 50, 100, 250 and 500 milliseconds, and at 1, 2.5, 5, 10, 30
        and 60 seconds; those of what upstreams take at 1, 5, 10, 50, 100 and 500 milliseconds, and at 1, 5, 10, 30 and 60
        seconds; those of waits for permits and of starts at 10 and 100 milliseconds, 1, 10 and 60 seconds, and 1 hour;
        those of the lives of kept jobs at 1, 10 and 60 seconds, 15 minutes, 1 and 12 hours; those of commits at 50, 100,
        250 and 500 microseconds, 1, 2.5, 5, 10, 25, 50, 100, 250 and 500 milliseconds, and at 1 and 5 seconds.
        In OpenMetrics the buckets of
        .Ql waystation_request_duration_seconds
        have exemplars: the trace id of a caller that sent a
        .Ql traceparent
        with the flag sampled, one a second of each bucket and loop at most.
        .Sh METRICS
        Each stands with its type and its labels.
        .Bl -tag -width Ds

        """#

    private static var list: String {
        Metric.all.map { metric in
            let labels = metric.labels.isEmpty ? "" : " Pq " + metric.labels.joined(separator: ", ")
            // A command keeps its case.
            let isCommand = metric.advice.hasPrefix("waystation")
            let advice =
                isCommand ? metric.advice : metric.advice.prefix(1).uppercased() + metric.advice.dropFirst()
            return ".It Cm \(metric.fullName) \(metric.kind.rawValue)\(labels)\n\(sentence(metric.help))\n"
                + "Do: \(sentence(advice))\n"
        }.joined() + ".El\n"
    }

    /// mandoc wants each sentence on a line of its own.
    private static func sentence(_ text: String) -> String {
        text.reduce(into: "") { text, next in
            text.append(next == " " && text.last == "." ? "\n" : next)
        }
    }

    private static let tail = #"""
        .Sh SEE ALSO
        .Xr waystation 1 ,
        .Xr waystationd-api 7 ,
        .Xr waystationd 8
        .Sh STANDARDS
        Prometheus' text format 0.0.4; OpenMetrics 1.0; W3C Trace Context.

        """#
}
