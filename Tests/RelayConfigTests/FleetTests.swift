import RelayBase
import RelayConfig
import RelayRoute
import Testing

@Suite("A database that several daemons keep their jobs in")
struct FleetTests {
    private func read(storage: String) -> ReadResult {
        ConfigurationReader.read(
            Array(#"{"storage": \#(storage), "routes": {}}"#.utf8),
            file: "t.json",
            accounts: testAccounts,
            wallSeconds: testSeconds,
            notesValues: true
        )
    }

    private func read(_ settings: String) -> ReadResult { read(storage: #"{"postgresql": \#(settings)}"#) }

    /// The errors, each with its hint.
    private func errors(_ result: ReadResult) -> [String] {
        result.diagnostics.filter { $0.severity == .error }
            .map { $0.pointer + ": " + $0.message + ($0.hint.map { " => " + $0 } ?? "") }
    }

    @Test("A file says everything about the database, and what it does not say has its usual value")
    func whole() throws {
        let result = read(
            storage: #"""
                {"directory": "/srv/w", "shared_users": true, "postgresql": {"host": "db1.example,db2.example",
                 "port": 6432, "database": "jobs", "user": "relay", "password": {"credential": "db"},
                 "schema": "w_2", "node": "Shop-1.example", "lease": "1m", "connections": 8, "pooled": true,
                 "listen_url": "postgresql://db1.example/jobs",
                 "tls": {"ca_file": "/ca.pem", "certificate": {"file": "/c"}, "key": {"credential": "k"}}}}
                """#
        )
        #expect(errors(result) == [])
        let storage = try #require(result.configuration?.storage)
        #expect(storage.sharesUsers && storage.directory == "/srv/w")
        let fleet = try #require(storage.postgresql)
        #expect(
            fleet.hosts == [.tcp(name: "db1.example", port: 6432), .tcp(name: "db2.example", port: 6432)]
        )
        #expect(fleet.database == "jobs" && fleet.user == "relay" && fleet.password == .credential("db"))
        #expect(fleet.schema == "w_2" && fleet.node == "Shop-1.example" && fleet.lease == .seconds(60))
        #expect(fleet.connections == 8 && fleet.isPooled && fleet.usesTLS)
        #expect(fleet.listenURL?.hosts == [.tcp(name: "db1.example", port: 5432)])
        #expect(fleet.tls?.authorityFile == "/ca.pem" && fleet.tls?.verifies == true)
        #expect(fleet.tls?.certificate == .file("/c") && fleet.tls?.key == .credential("k"))
        #expect(result.configuration?.secrets.count == 3)
        let least = try #require(read(#"{"host": "db.example"}"#).configuration?.storage.postgresql)
        #expect(least.hosts == [.tcp(name: "db.example", port: 5432)])
        #expect(least.database == "waystation" && least.user == "waystation" && least.password == nil)
        #expect(least.schema == "waystation" && least.node == nil && least.lease == .seconds(30))
        #expect(least.connections == 4 && !least.isPooled && least.usesTLS && least.acceptedRisks.isEmpty)
    }

    @Test(
        "A URL names hosts, a role and a database, and nothing else",
        arguments: [
            ("postgresql://db", ["db 5432"], nil, nil),
            ("postgres://relay@db.example:6432/jobs", ["db.example 6432"], "relay", "jobs"),
            ("postgresql://a%40b@[::1]:1/j%20s", ["::1 1"], "a@b", "j s"),
            ("postgresql://a:1,192.0.2.7/", ["a 1", "192.0.2.7 5432"], nil, nil),
            ("postgresql://%2Frun%2Fpg:5433/j", ["/run/pg 5433"], nil, "j"),
            ("postgresql:///j?host=/run/pg&sslmode=verify-full", ["/run/pg 5432"], nil, "j"),
            ("postgresql://db?target_session_attrs=read-write", ["db 5432"], nil, nil),
        ] as [(String, [String], String?, String?)]
    )
    func url(text: String, hosts: [String], user: String?, database: String?) throws {
        let result = read(#"{"url": "\#(text)"}"#)
        #expect(errors(result) == [])
        let fleet = try #require(result.configuration?.storage.postgresql)
        let found = fleet.hosts.map { host in
            switch host {
            case .tcp(let name, let port): "\(name) \(port)"
            case .unix(let directory, let port): "\(directory) \(port)"
            }
        }
        #expect(found == hosts)
        #expect(fleet.user == user ?? "waystation" && fleet.database == database ?? "waystation")
    }

    @Test(
        "A fault of a URL is told in words that repeat none of it",
        arguments: [
            (
                "postgresql://relay:hunter2@db/jobs",
                "a password may not stand in the URL => write \"password\""
            ),
            ("postgresql://db/jobs?password=hunter2", "a password may not stand in the URL"),
            ("postgresql://db/jobs?sslpassword=hunter2", "a password may not stand in the URL"),
            ("postgresql://db/jobs?sslmode=hunter2", "a parameter stands in the URL"),
            ("postgresql://db/jobs?hunter2=1", "a parameter stands in the URL"),
            ("postgresql://db/jobs?options=-c%20x=hunter2", "a parameter stands in the URL"),
            ("postgresql://db/jobs#hunter2", "a fragment"), ("hunter2", "must begin with postgresql://"),
            ("https://hunter2/", "must begin with postgresql://"),
            ("postgresql:///jobs", "the host is missing"),
            ("postgresql://db:hunter2/jobs", "the port must be a number"),
            ("postgresql://hunter2%zz@db/jobs", "two hexadecimal digits"),
            ("postgresql://db?host=hunter2", "an absolute path"),
            ("postgresql://db?host=/hunter2", "the host stands in the URL twice"),
            ("postgresql://hunter2%0a@db", "none of them a control"),
        ]
    )
    func badURL(text: String, message: String) {
        let result = read(#"{"url": "\#(text)"}"#)
        #expect(errors(result).count == 1 && errors(result)[0].contains(message), "\(errors(result))")
        #expect(!Diagnostic.render(result.diagnostics).contains("hunter2"))
    }

    @Test(
        "Keys that contradict each other, or mean nothing beside others, are faults where they stand",
        arguments: [
            (#"{"host": "db", "url": "postgresql://db"}"#, "/storage/postgresql: only one of"),
            ("{}", "/storage/postgresql: one of \"url\", \"host\" is missing"),
            (#"{"url": "postgresql://db", "user": "u"}"#, "/storage/postgresql/user: \"user\" means nothing"),
            (#"{"host": "u@db"}"#, "/storage/postgresql/host: the host alone stands here"),
            (#"{"host": "db", "port": 0}"#, "/storage/postgresql/port: expected an integer from 1"),
            (#"{"host": "db", "password": "hunter2"}"#, "/storage/postgresql/password: a secret may not"),
            (
                #"{"host": "db", "schema": "pg_jobs"}"#,
                "/storage/postgresql/schema: names that begin with pg_"
            ),
            (#"{"host": "db", "schema": "Jobs"}"#, "/storage/postgresql/schema: a schema has only"),
            (#"{"host": "db", "node": "a b"}"#, "/storage/postgresql/node: a name has"),
            (
                #"{"host": "db", "lease": "4s"}"#,
                "/storage/postgresql/lease: expected a duration from 5s to 10m"
            ),
            (
                #"{"host": "db", "connections": 1}"#,
                "/storage/postgresql/connections: expected an integer from 2 to 64"
            ),
            (
                #"{"host": "db", "listen_url": "postgresql://db"}"#,
                "/storage/postgresql/listen_url: \"listen_url\" means nothing without"
            ),
            (
                #"{"host": "db", "pooled": true, "listen_url": "postgresql://db/other"}"#,
                "/storage/postgresql/listen_url: it names another database"
            ),
            (#"{"host": "db", "tls": {"verify": false}}"#, "/storage/postgresql/tls/verify: whoever answers"),
            (
                #"{"host": "db", "tls": {"key": {"file": "/k"}}}"#,
                "/storage/postgresql/tls/key: \"key\" means nothing"
            ),
            (
                #"{"host": "db", "tls": {"key": {"file": "/k"}, "certificate": {"env": "C"}}}"#,
                "/storage/postgresql/tls/certificate: the database's library"
            ),
            (
                #"{"host": "db", "tls": {}, "accept_risk": ["unencrypted"]}"#,
                "/storage/postgresql/accept_risk: \"tls\" and the accepted risk"
            ),
            (
                #"{"host": "db", "accept_risk": ["fsync"]}"#,
                "/storage/postgresql/accept_risk/0: expected one of"
            ),
        ]
    )
    func faults(settings: String, message: String) {
        let result = read(settings)
        #expect(errors(result).count == 1 && errors(result)[0].hasPrefix(message), "\(errors(result))")
        #expect(!Diagnostic.render(result.diagnostics).contains("hunter2"))
    }

    @Test("The keys of the disk mean nothing beside a database, nor do those of a fleet without one")
    func beside() {
        let beside = read(storage: #"{"postgresql": {"host": "db"}, "sync": "full", "max_size": "1GiB"}"#)
        #expect(errors(beside).map { $0.hasPrefix("/storage/sync: ") } == [true, false])
        #expect(errors(beside).last?.hasPrefix("/storage/max_size: ") == true)
        #expect(errors(beside).allSatisfy { $0.contains(" => ") })
        #expect(errors(read(storage: #"{"shared_users": true}"#)).count == 1)
    }

    @Test(
        "TLS is left out on a machine itself, and elsewhere only where somebody takes that on",
        arguments: [
            (#"{"host": "/run/postgresql"}"#, false), (#"{"host": "127.0.0.1"}"#, false),
            (#"{"url": "postgresql://[::1]/"}"#, false), (#"{"host": "localhost"}"#, false),
            (#"{"host": "localhost", "tls": {}}"#, true), (#"{"host": "localhost,db"}"#, true),
            (#"{"host": "10.0.0.1"}"#, true), (#"{"host": "db", "accept_risk": ["unencrypted"]}"#, false),
        ]
    )
    func tls(settings: String, usesTLS: Bool) {
        #expect(read(settings).configuration?.storage.postgresql?.usesTLS == usesTLS)
    }

    @Test("Each risk that somebody takes on is told of")
    func risks() {
        let words = FleetSettings.Risk.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let result = read(#"{"host": "db", "accept_risk": [\#(words)]}"#)
        #expect(result.configuration?.storage.postgresql?.acceptedRisks == FleetSettings.Risk.allCases)
        let told = result.diagnostics.filter { $0.pointer.hasPrefix("/storage/postgresql/accept_risk/") }
        #expect(told.map(\.severity) == Array(repeating: .warning, count: 5))
    }
}
