/// Faults in planned windows, and in what only reports.
let brokenClosed = BrokenRow.rows(
    #"""
    route "closed": []
      2:11: error: the list may not be empty  [/routes/r/closed]
    route "closed": {"from": "22:00"}
      2:11: error: expected a list, each an object  [/routes/r/closed]
    route "closed": [{"days": ["2026-12-24"]}]
      2:22: error: expected one of "sunday", "monday", "tuesday", "wednesday", "thursday", "friday",
        "saturday"  [/routes/r/closed/0/days/0]
    route "closed": [{"days": []}]
      2:21: error: the list may not be empty  [/routes/r/closed/0/days]
    route "closed": [{"days": ["sunday"], "dates": ["2026-12-24"]}]
      2:42: error: a window is on days of the week or on dates  [/routes/r/closed/0/dates]
        => make two windows of it
    route "closed": [{"dates": ["2026-02-29"]}]
      2:23: error: there is no such date  [/routes/r/closed/0/dates/0] => write it such as "2026-12-24"
    route "closed": [{"from": "25:00", "to": "6:00"}]
      2:21: error: there is no such time of day  [/routes/r/closed/0/from]
        => write it from "00:00" to "23:59"
      2:36: error: there is no such time of day  [/routes/r/closed/0/to]
        => write it from "00:00" to "24:00"
    route "closed": [{"from": "24:00", "to": "06:00"}]
      2:21: error: there is no such time of day  [/routes/r/closed/0/from]
        => write it from "00:00" to "23:59"
    route "closed": [{"from": "06:00", "to": "06:00"}]
      2:36: error: the window ends when it begins  [/routes/r/closed/0/to]
        => leave both out for the whole day
    route "closed": [{"to": "06:00", "zone": "Europe/Nowhere"}]
      2:36: error: this machine knows no time zone "Europe/Nowhere"  [/routes/r/closed/0/zone]
        => install the package tzdata, or correct the name, such as "Europe/Berlin" or "UTC"
    route "closed": [{"to": "06:00", "zone": "../../etc/passwd"}]
      2:36: error: this machine knows no time zone "../../etc/passwd"  [/routes/r/closed/0/zone]
        => install the package tzdata, or correct the name, such as "Europe/Berlin" or "UTC"
    route "closed": [{"to": "06:00", "zone": "Broken/Zone"}]
      2:36: error: the file of the time zone cannot be used: its last line has no
        end  [/routes/r/closed/0/zone]
        => install the package tzdata anew
    route "closed": [{"to": "06:00", "zone": "right/UTC"}]
      2:36: error: the file of the time zone cannot be used: it counts leap seconds, which the system's clock does
        not  [/routes/r/closed/0/zone] => name the zone without "right/"
    route "closed": [{"to": "06:00", "zone": 1}]
      2:36: error: expected the name of a time zone such as "Europe/Berlin"  [/routes/r/closed/0/zone]
    route "closed": [{"to": "06:00", "hours": "22-6"}]
      2:28: error: unknown key "hours"  [/routes/r/closed/0] => what may stand here: dates, days, from, to, zone
    route "closed": [{"from": "22:00", "to": "06:00", "zone": "Europe/Berlin"},
    + {"from": "06:00", "to": "22:00", "zone": "Europe/Berlin"}]
      2:11: error: the windows leave no time in which the route is open  [/routes/r/closed]
        => leave some out; to stop a route for good: waystation pause ROUTE
    route "closed": [{}]
      2:11: error: the windows leave no time in which the route is open  [/routes/r/closed]
        => leave some out; to stop a route for good: waystation pause ROUTE
    route "circuit_breaker": {"mode": "log"}
      2:29: error: expected "enforce" or "report"  [/routes/r/circuit_breaker/mode]
    route "never_fails": true, "recovery": [{"name": "p", "mode": "report", "on": ["any"],
    + "respond": {"as": "placeholder", "status": 200}}]
      2:16: error: a failure can reach the caller: no rule answers all of them  [/routes/r/never_fails]
        => end "recovery" with {"name": "last-line", "on": ["any"], "respond": {"as": "placeholder", "status": 200}}
    route "recovery": [{"name": "new", "mode": "report", "on": ["any"], "fail": {}},
    + {"name": "old", "on": ["any"], "fail": {}}, {"name": "last", "on": ["503"], "retry": {}}]
      2:120: warning: this rule is never reached: "old" ends every failure above it  [/routes/r/recovery/2]
    """#
)
