/// Faults in a route's promises and in what they need: upstreams of a constrained network, pins, kept answers.
let brokenPromises = BrokenRow.rows(
    #"""
    top "constrained": {}
      2:16: error: "when" is missing  [/constrained]
    top "constrained": {"when": []}
      2:25: error: the list may not be empty  [/constrained/when]
    top "constrained": {"when": [{}]}
      2:26: error: one of "file_exists", "control" is missing  [/constrained/when/0]
    top "constrained": {"when": {"control": true}}
      2:25: error: expected a list, each an object  [/constrained/when]
    top "constrained": {"when": [{"file_exists": "/run/x", "control": true}]}
      2:52: error: only one of "file_exists", "control" may stand here  [/constrained/when/0]
    top "constrained": {"when": [{"file_exists": "run/x"}, {"file_exists": "/run/../x"}, {"file":
    + "/x"}]}
      2:42: error: expected an absolute path  [/constrained/when/0/file_exists] => begin with "/"
      2:68: error: "." and ".." may not stand in a path  [/constrained/when/1/file_exists]
      2:83: error: unknown key "file"  [/constrained/when/2] => did you mean "file_exists"?
    top "constrained": {"when": [{"control": false}]}
      2:38: error: "control" takes true  [/constrained/when/0/control] => write true, or remove the source
    top "constrained": {"when": [{"control": "yes"}]}
      2:38: error: expected true or false  [/constrained/when/0/control]
    top "constrained": {"when": [{"control": true}, {"file_exists": "/x"}, {"control": true},
    + {"file_exists": "/x"}]}
      2:80: error: another source has "control" too  [/constrained/when/2/control]
      2:103: error: another source has the same "file_exists"  [/constrained/when/3/file_exists]
    upstreams [{"name": "u", "url": "https://u.example/"}, {"name": "l", "url": "https://l.example/",
    + "use": "when_constrained"}]
      2:96: error: nothing tells when the network is constrained  [/routes/r/upstreams/1/use]
        => add "constrained": {"when": [{"file_exists": "/run/waystation/constrained"}]} beside "routes"
    upstreams [{"name": "u", "url": "https://a.example/", "use": "when_constrained"}]
      2:52: error: the first upstream is the ordinary target and cannot be
        when_constrained  [/routes/r/upstreams/0/use]
        => put an upstream with "use": "always" first
    upstreams [{"name": "u", "url": "https://u.example/"}, {"name": "l", "url": "https://l.example/",
    + "use": "constrained"}]
      2:96: error: expected one of "always", "failover_only",
        "when_constrained"  [/routes/r/upstreams/1/use]
    whole {"constrained": {"when": [{"control": true}]}, "routes": {"r": {"upstreams": [
    | {"name": "u", "url": "https://u.example/"},
    | {"name": "l", "url": "https://l.example/", "use": "when_constrained"},
    | {"name": "m", "url": "https://m.example/", "use": "when_constrained"}]}}}
      4:51: error: another upstream is used when_constrained already  [/routes/r/upstreams/2/use]
    upstreams [{"name": "u", "url": "https://u.example/"}, {"name": "m", "url": "https://m.example/",
    + "use": "failover_only", "cooldown": "30s"}]
      2:46: warning: no rule leads to this upstream, so that nothing is ever sent to
        it  [/routes/r/upstreams/1]
        => add {"name": "to-m", "on": ["connection", "timeout"], "failover": {"upstream": "m"}} to
        "recovery"
    upstreams [{"name": "u", "url": "https://u.example/", "cooldown": "30s"}]
      2:57: warning: no failover rule of the route leads to this upstream, so its cooldown means
        nothing  [/routes/r/upstreams/0/cooldown]
    upstreams [{"name": "u", "url": "https://u.example/", "cooldown": "0s"}, {"name": "m", "url":
    + "https://m.example/", "use": "failover_only", "cooldown": "2h"}], "recovery": [{"name": "x",
    + "on": ["any"], "failover": {"upstream": "m"}}]
      2:143: error: expected a duration from 0s to 1h, such as "250ms" or
        "1h30m"  [/routes/r/upstreams/1/cooldown]
    route "tls": {"pins": {}}
      2:17: error: "spki_sha256" is missing  [/routes/r/tls/pins]
    route "tls": {"pins": {"spki_sha256": []}}
      2:33: error: the list may not be empty  [/routes/r/tls/pins/spki_sha256]
    route "tls": {"pins": {"spki_sha256": "dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0="}}
      2:33: error: expected a list, each the SHA-256 of a public key, 44 characters of
        base64  [/routes/r/tls/pins/spki_sha256]
        => put it in brackets: [ … ]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0="]}}
      2:33: error: enforced pins need a second key: with one a lost key makes the upstream
        unreachable  [/routes/r/tls/pins/spki_sha256]
        => add that of a backup key, or write "enforce": false
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0="]}}
      2:33: error: enforced pins need a second key: with one a lost key makes the upstream
        unreachable  [/routes/r/tls/pins/spki_sha256]
        => add that of a backup key, or write "enforce": false
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "sha256//P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="]}}
      2:82: error: expected the SHA-256 of a public key, 44 characters of
        base64  [/routes/r/tls/pins/spki_sha256/1]
        => write what follows the slashes
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"]}}
      2:82: error: expected the SHA-256 of a public key, 44 characters of
        base64  [/routes/r/tls/pins/spki_sha256/1]
        => these are hexadecimal digits: write the same bytes in base64
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eA==", "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4",
    + "dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me+=", 7]}}
      2:82: error: expected the SHA-256 of a public key, 44 characters of
        base64  [/routes/r/tls/pins/spki_sha256/1]
      2:130: error: expected the SHA-256 of a public key, 44 characters of
        base64  [/routes/r/tls/pins/spki_sha256/2]
      2:178: error: expected the SHA-256 of a public key, 44 characters of
        base64  [/routes/r/tls/pins/spki_sha256/3]
      2:226: error: expected the SHA-256 of a public key, 44 characters of
        base64  [/routes/r/tls/pins/spki_sha256/4]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "host": "https://u.example"}}
      2:139: error: expected the name of a host such as "bank.example"  [/routes/r/tls/pins/host]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "host": "127.0.0.1"}}
      2:139: error: expected the name of a host such as "bank.example"  [/routes/r/tls/pins/host]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "host": "x.example"}}
      2:139: error: no https upstream of the route is at "x.example"  [/routes/r/tls/pins/host]
        => did you mean "u.example"?
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "host": "evil-u.example", "subdomains": true}}
      2:139: error: no https upstream of the route is at "evil-u.example"  [/routes/r/tls/pins/host]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "enforce": "no", "until": "2027-06-01"}}
      2:142: error: expected true or false  [/routes/r/tls/pins/enforce]
      2:157: error: expected a moment in UTC such as "2027-06-01T00:00:00Z"  [/routes/r/tls/pins/until]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "until": "2027-02-29T00:00:00Z"}}
      2:140: error: expected a moment in UTC such as "2027-06-01T00:00:00Z"  [/routes/r/tls/pins/until]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "until": "2027-06-01T00:00:00+02:00"}}
      2:140: error: expected a moment in UTC such as "2027-06-01T00:00:00Z"  [/routes/r/tls/pins/until]
    route "tls": {"pins": {"spki_sha256": ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="], "until": "2026-11-20T00:00:00Z"}}
      2:140: warning: these pins no longer count  [/routes/r/tls/pins/until] => renew or remove them
    upstreams [{"name": "u", "unix": "/run/u.sock"}], "tls": {"pins": {"spki_sha256":
    + ["dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=",
    + "P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM="]}}
      2:57: error: the route has no https upstream to pin  [/routes/r/tls/pins]
    route "response": {"redirects": "follows"}
      2:27: error: expected "return" or "follow"  [/routes/r/response/redirects] => did you mean "follow"?
    route "response": {"cache_last_good": true}
      2:33: error: expected an object  [/routes/r/response/cache_last_good]
      2:33: warning: no rule of the route responds with what is kept  [/routes/r/response/cache_last_good]
        => add {"name": "last-good", "on": ["any"], "respond": {"as": "stale"}}
    route "response": {"cache_last_good": {}}
      2:33: error: "max_age" is missing  [/routes/r/response/cache_last_good]
      2:33: warning: no rule of the route responds with what is kept  [/routes/r/response/cache_last_good]
        => add {"name": "last-good", "on": ["any"], "respond": {"as": "stale"}}
    route "response": {"cache_last_good": {"max_age": "0s"}}, "recovery": [{"name": "s", "on": ["any"],
    + "respond": {"as": "stale"}}]
      2:45: error: expected a duration from 1s to 30d, such as "250ms" or
        "1h30m"  [/routes/r/response/cache_last_good/max_age]
    route "response": {"cache_last_good": {"max_age": "31d"}}, "recovery": [{"name": "s", "on": ["any"],
    + "respond": {"as": "stale"}}]
      2:45: error: expected a duration from 1s to 30d, such as "250ms" or
        "1h30m"  [/routes/r/response/cache_last_good/max_age]
    route "response": {"cache_last_good": {"max_age": "6h"}}
      2:33: warning: no rule of the route responds with what is kept  [/routes/r/response/cache_last_good]
        => add {"name": "last-good", "on": ["any"], "respond": {"as": "stale"}}
    route "recovery": [{"name": "s", "on": ["any"], "respond": {"as": "stale"}}]
      2:61: error: the route keeps no answers  [/routes/r/recovery/0/respond/as]
        => give it "response": {"cache_last_good": {"max_age": "6h"}}
    route "response": {"cache_last_good": {"max_age": "6h"}}, "recovery": [{"name": "s", "on": ["any"],
    + "respond": {"as": "stale", "status": 200, "headers": {}, "json": 1, "text": "x"}}]
      2:122: error: "status" does not belong to a stale answer, which is given as it was kept: remove
        it  [/routes/r/recovery/0/respond]
      2:137: error: "headers" does not belong to a stale answer, which is given as it was kept: remove
        it  [/routes/r/recovery/0/respond]
      2:152: error: "json" does not belong to a stale answer, which is given as it was kept: remove
        it  [/routes/r/recovery/0/respond]
      2:163: error: "text" does not belong to a stale answer, which is given as it was kept: remove
        it  [/routes/r/recovery/0/respond]
    route "response": {"cache_last_good": {"max_age": "6h"}}, "recovery": [{"name": "s", "on": ["any"],
    + "respond": {"as": "stale"}}, {"name": "p", "on": ["any"], "respond": {"as": "placeholder",
    + "status": 200}}, {"name": "f", "on": ["any"], "respond": {"as": "fallback", "status": 503}}]
      2:203: warning: this rule is never reached: "p" ends every failure above it  [/routes/r/recovery/2]
    route "recovery": [{"name": "x", "on": ["any"], "respond": {"status": 200}}, {"name": "y", "on":
    + ["any"], "respond": {"as": "old"}}, {"name": "z", "on": ["any"], "respond": {"as": "fallback"}}]
      2:54: error: "as" is missing  [/routes/r/recovery/0/respond]
      2:72: warning: this rule is never reached: "x" ends every failure above it  [/routes/r/recovery/1]
      2:119: error: expected one of "fallback", "placeholder", "stale"  [/routes/r/recovery/1/respond/as]
      2:128: warning: this rule is never reached: "x" ends every failure above it  [/routes/r/recovery/2]
      2:168: error: "status" is missing  [/routes/r/recovery/2/respond]
    route "never_fails": 1
      2:16: error: expected true or false  [/routes/r/never_fails]
    route "never_fails": true
      2:16: error: a failure can reach the caller: no rule answers all of them  [/routes/r/never_fails]
        => end "recovery" with {"name": "last-line", "on": ["any"], "respond": {"as": "placeholder",
        "status": 200}}
    route "never_fails": true, "response": {"cache_last_good": {"max_age": "6h"}}, "recovery": [{"name":
    + "s", "on": ["any"], "respond": {"as": "stale"}}]
      2:16: error: a failure can reach the caller: no rule answers all of them  [/routes/r/never_fails]
        => end "recovery" with {"name": "last-line", "on": ["any"], "respond": {"as": "placeholder",
        "status": 200}}
    route "never_fails": true, "recovery": [{"name": "p", "on": ["5xx"], "respond": {"as":
    + "placeholder", "status": 200}}]
      2:16: error: a failure can reach the caller: no rule answers all of them  [/routes/r/never_fails]
        => end "recovery" with {"name": "last-line", "on": ["any"], "respond": {"as": "placeholder",
        "status": 200}}
    route "never_fails": true, "recovery": [{"name": "no", "on": ["404"], "fail": {}}, {"name": "p",
    + "on": ["any"], "respond": {"as": "placeholder", "status": 200}}]
      2:73: error: the route says "never_fails", and this rule fails  [/routes/r/recovery/0/fail]
        => remove the rule, or respond
    route "never_fails": true, "recovery": [{"name": "all", "on": ["any"], "fail": {}}, {"name": "p",
    + "on": ["any"], "respond": {"as": "placeholder", "status": 200}}]
      2:74: error: the route says "never_fails", and this rule fails  [/routes/r/recovery/0/fail]
        => remove the rule, or respond
      2:79: warning: this rule is never reached: "all" ends every failure above it  [/routes/r/recovery/1]
    route "never_fails": true, "recovery": [{"name": "f", "on": ["any"], "respond": {"as": "fallback",
    + "status": 503}}, {"name": "no", "on": ["404"], "fail": {}}]
      2:111: warning: this rule is never reached: "f" ends every failure above it  [/routes/r/recovery/1]
    whole {"defaults": {"recovery": [{"name": "no", "on": ["404"], "fail": {}}, {"name": "s", "on":
    + ["any"], "respond": {"as": "stale"}}]},
    | "routes": {"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}],
    | "never_fails": true}}}
      1:66: error: the route says "never_fails", and this rule fails  [/defaults/recovery/0/fail]
        => route "r" takes this rule over
      1:118: error: the route keeps no answers  [/defaults/recovery/1/respond/as]
        => route "r" takes this rule over
      3:16: error: a failure can reach the caller: no rule answers all of them  [/routes/r/never_fails]
        => end "recovery" with {"name": "last-line", "on": ["any"], "respond": {"as": "placeholder",
        "status": 200}}
    """#
)
