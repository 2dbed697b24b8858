/// Whole files, and what stands at the top of them.
let brokenFiles = BrokenRow.rows(
    #"""
    whole
      1:1: error: the text ends where a value is expected
    whole []
      1:1: error: expected an object
    whole {"routes": {}
      1:14: error: the text ends where "," or "}" is expected
    whole {"routes": {},}
      1:14: error: no comma may follow the last entry
    whole {"routes": tru}
      1:12: error: expected a value: only true, false and null are bare words
    whole \#u{FEFF}{}
      1:1: error: a byte order mark may not stand before JSON
    whole {"limits": {"max_connections": 01}}
      1:32: error: a number may not begin with a zero
    whole {"routes": {},
    |  "routes": {},
    |  "limits": {"max_connections": 1, "max_connections": 2}}
      1:12: warning: there are no routes: every request is answered 404  [/routes]
      2:2: error: the key "routes" stands here twice
      3:35: error: the key "max_connections" stands here twice  [/limits]
    whole {}
      1:1: warning: there are no routes: every request is answered 404  [/routes]
    top "lisseners": []
      2:1: error: unknown key "lisseners" => did you mean "listeners"?
    top "telemetry": {}
      2:1: error: "telemetry" is not available in this version: remove it
    top "listeners": []
      2:14: error: the list may not be empty  [/listeners]
    top "listeners": {"name": "jobs"}
      2:14: error: expected a list, each an object  [/listeners]
    top "listeners": [{"name": "a"}]
      2:15: error: one of "unix", "tcp" is missing  [/listeners/0]
    top "listeners": [{"name": "a", "unix": "/a", "tcp": "127.0.0.1:1"}]
      2:43: error: only one of "unix", "tcp" may stand here  [/listeners/0]
    top "listeners": [{"unix": "/a"}]
      2:15: error: "name" is missing  [/listeners/0]
    top "listeners": [{"name": "a", "unix": "/a"}, {"name": "a", "unix": "/a"}]
      2:53: error: another listener has the same "name"  [/listeners/1/name]
      2:66: error: another listener has the same "unix"  [/listeners/1/unix]
    top "listeners": [{"name": "a", "unix": "relative"}]
      2:37: error: expected an absolute path  [/listeners/0/unix] => begin with "/"
    top "listeners": [{"name": "a", "unix":
    + "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}]
      2:37: error: a path of 108 bytes: at most 107 are possible here  [/listeners/0/unix]
    top "listeners": [{"name": "a", "unix": "/a", "mode": "660"}]
      2:51: error: expected four octal digits such as "0660"  [/listeners/0/mode]
    top "listeners": [{"name": "a", "unix": "/a", "role": "adnim"}]
      2:51: error: expected one of "metrics", "submit", "read", "operate", "admin"  [/listeners/0/role]
    top "listeners": [{"name": "a", "tcp": "0.0.0.0:80"}]
      2:36: error: TCP listeners are possible on loopback addresses only  [/listeners/0/tcp]
        => write "127.0.0.1:80"
    top "listeners": [{"name": "a", "tcp": "127.0.0.1"}]
      2:36: error: the port is missing  [/listeners/0/tcp]
    top "listeners": [{"name": "a", "tcp": "127.0.0.1:80", "mode": "0600"}]
      2:52: error: "mode" belongs to a Unix socket  [/listeners/0] => remove it
    top "listeners": [{"name": "a", "tcp": "127.0.0.1:80", "role": "admin"}]
      2:36: warning: every user of this machine gets the role "admin" here  [/listeners/0/tcp]
        => use a Unix socket with "mode" and "allow_users"
    top "listeners": [{"name": "a", "unix": "/a", "group": "nobodies"}]
      2:14: warning: no listener has the role "admin": no command can reload the daemon, or act on jobs
        and routes  [/listeners] => add {"name": "control", "unix":
        "/run/waystation/control.sock", "mode": "0600", "role": "admin"}
      2:52: warning: no group named "nobodies" on this machine  [/listeners/0/group]
    top "metrics": true
      2:1: error: "metrics" is what a listener with "role": "metrics" serves: remove it
    top "listeners": [{"name": "a", "unix": "/a", "allow_users": ["www-data", "mallory", -1]}]
      2:71: error: no user named "mallory" on this machine  [/listeners/0/allow_users/1]
        => create it, or write its number
      2:82: error: expected the name of a user, or an integer from 0 to
        4294967294  [/listeners/0/allow_users/2]
    top "limits": {"max_request_body": 1048576}
      2:32: error: a size needs a unit  [/limits/max_request_body] => write "1MiB"
    top "limits": {"max_request_body": "16MB"}
      2:32: error: expected a size from 0B to 1GiB, such as "16MiB"  [/limits/max_request_body]
        => the units are B, KiB, MiB and GiB
    top "limits": {"replay_buffer": "1GiB"}
      2:29: error: expected a size from 0B to 64MiB, such as "16MiB"  [/limits/replay_buffer]
    top "limits": {"max_connections": 0, "max_queued_jobs": 0}
      2:31: error: expected an integer from 1 to 65536  [/limits/max_connections]
      2:53: error: expected an integer from 1 to 10000000  [/limits/max_queued_jobs]
    top "limits": {"max_connections": 8, "per_user": {"max_connections": 9}}
      2:66: warning: one user's share is more than all may have (limits.max_connections) and bounds
        nothing  [/limits/per_user/max_connections]
        => lower it, or raise limits.max_connections
    top "limits": {"max_requests": 8, "per_user": {"max_requests": 9}}
      2:60: warning: one user's share is more than all may have (limits.max_requests) and bounds
        nothing  [/limits/per_user/max_requests]
        => lower it, or raise limits.max_requests
    top "limits": {"per_user": {"rate": {"per": "1s"}, "max_bytes": "1KiB"}}
      2:33: error: "max_requests" is missing  [/limits/per_user/rate]
      2:61: error: expected a size from 64KiB to 1024GiB, such as "16MiB"  [/limits/per_user/max_bytes]
    top "limits": {"shedding": {"max_resident": "1MiB"}}
      2:41: error: expected a size from 16MiB to 1024GiB, such as "16MiB"  [/limits/shedding/max_resident]
    top "limits": {"per_user": {"max_connections": 0}}
      2:44: error: expected an integer from 1 to 65536  [/limits/per_user/max_connections]
    top "limits": {"max_connections": "512"}
      2:31: error: expected an integer from 1 to 65536  [/limits/max_connections]
    top "limits": {"max_connections": 1.5}
      2:31: error: expected an integer from 1 to 65536  [/limits/max_connections]
    top "limits": 5
      2:11: error: expected an object  [/limits]
    top "log": {"level": "verbose"}
      2:18: error: expected one of "error", "warning", "notice", "info", "debug"  [/log/level]
    top "log": {"format": "jsn"}
      2:19: error: expected "text" or "json"  [/log/format] => did you mean "json"?
    top "log": {"bodies": "on_failure"}
      2:19: error: "on_failure" is not available in this version  [/log/bodies] => write "never"
    top "log": {"redact_headers": ["x y"]}
      2:28: error: not a valid header name  [/log/redact_headers/0]
    top "storage": {"directory": "/var/../etc", "sync": "normal"}
      2:26: error: "." and ".." may not stand in a path  [/storage/directory]
      2:49: error: expected "full" or "off"  [/storage/sync]
    top "credentials": {"Books": {}}
      2:17: error: a name has only lower-case letters, digits, ".", "_" and "-", and begins with one of the
        first two  [/credentials/Books]
    top "credentials": {"b": {"type": "oauth2_refresh"}}
      2:31: error: expected "oauth2_client_credentials" or "oauth2_refresh_token"  [/credentials/b/type]
    top "credentials": {"b": {"type": "oauth2_client_credentials", "token_url":
    + "http://login.example/t", "client_id": "x", "client_secret": "hunter2"}}
      2:73: warning: the credential crosses the network unencrypted  [/credentials/b/token_url]
        => use https if the upstream can
      2:134: error: a secret may not stand in the configuration  [/credentials/b/client_secret]
        => write {"credential": "NAME"} and give it to systemd with LoadCredential=NAME:PATH
    top "credentials": {"b": {"type": "oauth2_refresh_token", "token_url": "https://10.0.0.1/t",
    + "client_id": "x"}}
      2:22: error: "refresh_token" is missing  [/credentials/b]
      2:68: error: the host is a private address, which the relay does not dial  [/credentials/b/token_url]
        => if it is meant, add "allow_addresses": ["10.0.0.0/8"] to the credential
    top "defaults": {"auth": {}}
      2:14: error: unknown key "auth"  [/defaults] => waystation.json(5) lists the keys that may stand here
    top "defaults": {"recovery": [{"name": "over", "on": ["any"], "failover": {"upstream": "nowhere"}}]}
      2:84: error: the route has no upstream named "nowhere"  [/defaults/recovery/0/failover/upstream]
        => route "r" takes this rule over
    top "defaults": {"timeouts": {"attempt": "45s"}}
      2:38: error: timeouts.attempt (45s) is longer than timeouts.total (30s)  [/defaults/timeouts/attempt]
    """#
)
