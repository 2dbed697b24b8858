/// Upstreams, mostly their URLs.
let brokenUpstreams = BrokenRow.rows(
    #"""
    upstreams []
      2:1: error: the list may not be empty  [/routes/r/upstreams]
    upstreams [{"name": "u"}]
      2:2: error: one of "url", "unix" is missing  [/routes/r/upstreams/0]
    upstreams [{"name": "u", "url": "https://a.example/", "use": "failover_only"}]
      2:52: error: the first upstream is the ordinary target and cannot be
        failover_only  [/routes/r/upstreams/0/use]
        => put an upstream with "use": "always" first
    upstreams [{"name": "u", "url": "https://a.example/"}, {"name": "u", "url": "https://b.example/"}]
      2:46: warning: no rule leads to this upstream, so that nothing is ever sent to
        it  [/routes/r/upstreams/1]
        => add {"name": "to-u", "on": ["connection", "timeout"], "failover": {"upstream": "u"}} to
        "recovery"
      2:55: error: another upstream has the same "name"  [/routes/r/upstreams/1/name]
    upstreams [{"name": "u", "url": "ftp://a.example/"}]
      2:23: error: the URL must begin with https:// or http://  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://user:hunter2@a.example/"}]
      2:23: error: a user name or password may not stand in the URL  [/routes/r/upstreams/0/url]
        => use "auth"
    upstreams [{"name": "u", "url": "https://a.example/?key=hunter2"}]
      2:23: error: a query may not stand in the URL of an upstream  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://a.example/#x"}]
      2:23: error: a fragment may not stand in the URL  [/routes/r/upstreams/0/url] => remove it
    upstreams [{"name": "u", "url": "https:///x"}]
      2:23: error: the host is missing  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://a.example:0/"}]
      2:23: error: the port must be a number from 1 to 65535  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://a.example:65536/"}]
      2:23: error: the port must be a number from 1 to 65535  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://a.example:/"}]
      2:23: error: the port must be a number from 1 to 65535  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://0x7f.1/"}]
      2:23: error: not an address in the usual notation  [/routes/r/upstreams/0/url]
        => write four numbers from 0 to 255, such as 192.0.2.1
    upstreams [{"name": "u", "url": "https://2130706433/"}]
      2:23: error: not an address in the usual notation  [/routes/r/upstreams/0/url]
        => write four numbers from 0 to 255, such as 192.0.2.1
    upstreams [{"name": "u", "url": "https://127.1/"}]
      2:23: error: not an address in the usual notation  [/routes/r/upstreams/0/url]
        => write four numbers from 0 to 255, such as 192.0.2.1
    upstreams [{"name": "u", "url": "https://01.2.3.4/"}]
      2:23: error: not an address in the usual notation  [/routes/r/upstreams/0/url]
        => write four numbers from 0 to 255, such as 192.0.2.1
    upstreams [{"name": "u", "url": "https://a%2eexample/"}]
      2:23: error: the host may not be percent-encoded  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://a..example/"}]
      2:23: error: not a valid host name  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://-a.example/"}]
      2:23: error: not a valid host name  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://é.example/"}]
      2:23: error: not a URL: only visible ASCII, without backslashes  [/routes/r/upstreams/0/url]
        => percent-encode other bytes
    upstreams [{"name": "u", "url": "https://a.example\\@b/"}]
      2:23: error: not a URL: only visible ASCII, without backslashes  [/routes/r/upstreams/0/url]
        => percent-encode other bytes
    upstreams [{"name": "u", "url": "https://[::1/"}]
      2:23: error: the bracket of the address is not closed  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://[fe80::1%25eth0]/"}]
      2:23: error: not an IPv6 address  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://::1/"}]
      2:23: error: more than one ":" in the host  [/routes/r/upstreams/0/url]
        => an IPv6 address stands in brackets: [::1]
    upstreams [{"name": "u", "url": "https://a.example/x/../y"}]
      2:23: error: "." and ".." may not stand in the path  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://a.example/%2E%2e/y"}]
      2:23: error: "." and ".." may not stand in the path  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "https://a.example//x"}]
      2:23: error: empty segments may not stand in the path  [/routes/r/upstreams/0/url] => write one "/"
    upstreams [{"name": "u", "url": "https://a.example/%zz"}]
      2:23: error: "%" must be followed by two hexadecimal digits  [/routes/r/upstreams/0/url]
    upstreams [{"name": "u", "url": "http://127.0.0.1/"}]
      2:23: error: the host is a loopback address, which the relay does not
        dial  [/routes/r/upstreams/0/url]
        => if it is meant, add "allow_addresses": ["127.0.0.0/8"] to the route
    upstreams [{"name": "u", "url": "https://[::ffff:169.254.169.254]/"}]
      2:23: error: the host is a link-local address, which the relay does not
        dial  [/routes/r/upstreams/0/url]
        => if it is meant, add "allow_addresses": ["169.254.0.0/16"] to the route
    upstreams [{"name": "u", "url": "https://localhost:8443/"}]
      2:23: error: the host is this machine, which the relay does not dial  [/routes/r/upstreams/0/url]
        => if it is meant, add "allow_addresses": ["127.0.0.0/8", "::1/128"] to the route
    upstreams [{"name": "u", "url": "http://192.168.1.1/"}]
      2:23: error: the host is a private address, which the relay does not dial  [/routes/r/upstreams/0/url]
        => if it is meant, add "allow_addresses": ["192.168.0.0/16"] to the route
    upstreams [{"name": "u", "unix":
    + "/run/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}]
      2:24: error: a path of 115 bytes: at most 107 are possible here  [/routes/r/upstreams/0/unix]
    """#
)
