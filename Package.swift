// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "waystation",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "waystationd", targets: ["waystationd"]),
        .executable(name: "waystation", targets: ["waystation"]),
        .library(
            name: "RelayKit",
            targets: ["RelayKit", "RelayCore", "RelayJobs", "RelayRoute", "RelayBase", "RelayJSON"]
        ),
        .library(name: "RelaySockets", targets: ["RelaySockets", "RelayTransport"]),
        .library(name: "RelayFoundation", targets: ["RelayFoundation"]),
        .library(name: "RelayDoors", targets: ["RelayDoors"]),
        .library(name: "RelayTesting", targets: ["RelayTesting"]),
        .library(name: "RelayClient", targets: ["RelayClient", "RelayInterface", "RelayBase"]),
        .library(name: "RelayClientFoundation", targets: ["RelayClientFoundation"]),
    ],
    targets: [
        // System libraries: a module map and a shim each; deploy/install-packages names the Debian packages.
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLinux"),

        // The page for browsers: its documents, which the compiler reads into the daemon.
        .target(
            name: "CPage",
            dependencies: ["CZlib"],
            exclude: ["icon.svg", "made", "page.html", "script", "style", "words.json"]
        ),

        // No I/O; clocks, chance, disks and sockets are asked by ports alone.
        .target(name: "RelayJSON"),
        .target(name: "RelayBase", dependencies: ["RelayJSON"]),
        .target(name: "RelayRoute", dependencies: ["RelayBase", "RelayJSON"]),
        .target(name: "RelayJobs", dependencies: ["RelayBase", "RelayJSON"]),
        .target(name: "RelayCore", dependencies: ["RelayBase", "RelayJobs", "RelayJSON", "RelayRoute"]),
        // The words of the outputs, a row for each.
        .target(name: "RelayInterface", dependencies: ["RelayBase", "RelayJobs", "RelayJSON", "RelayRoute"]),
        // The typed library over the core; no part of the daemon. RelayFoundation is for programs that use Foundation.
        .target(
            name: "RelayKit",
            dependencies: ["RelayBase", "RelayCore", "RelayJobs", "RelayJSON", "RelayRoute"]
        ),
        .target(name: "RelayFoundation", dependencies: ["RelayJSON", "RelayKit"]),
        // Recovery around the sending of a client that a program has already.
        .target(name: "RelayDoors", dependencies: ["RelayBase", "RelayKit", "RelayRoute"]),
        // What programs test with: a clock, a transport that plays a script, randomness that repeats.
        .target(name: "RelayTesting", dependencies: ["RelayBase", "RelayRoute"]),
        .target(name: "RelayHTTP", dependencies: ["RelayBase", "RelayJSON", "RelayRoute"]),
        .target(name: "RelayConfig", dependencies: ["RelayBase", "RelayJSON", "RelayRoute"]),

        // Adapters.
        .target(name: "RelayPosix", dependencies: ["CLinux"]),
        // The bytes of jobs and their attempts, as stores keep them.
        .target(name: "RelayRecords", dependencies: ["CLinux", "RelayBase", "RelayJobs"]),
        .target(
            name: "RelayTransport",
            dependencies: ["RelayBase", "RelayHTTP", "RelayPosix", "RelayRoute", "COpenSSL", "CZlib"]
        ),
        // The typed library over sockets; no part of the daemon either.
        .target(
            name: "RelaySockets",
            dependencies: ["RelayBase", "RelayCore", "RelayKit", "RelayRoute", "RelayTransport"]
        ),
        .target(
            name: "RelayStore",
            dependencies: [
                "CLinux", "CSQLite", "CSQLiteFiles", "RelayBase", "RelayJobs", "RelayPosix", "RelayRecords",
            ]
        ),
        .target(name: "CSQLiteFiles", dependencies: ["CSQLite"]),
        // The way to PostgreSQL. CPostgres opens libpq when it is asked to: nothing is linked.
        .target(name: "CPostgres"),
        .target(name: "RelayPostgres", dependencies: ["CPostgres", "RelayBase", "RelayPosix"]),
        // The store of several daemons: one PostgreSQL database.
        .target(
            name: "RelayFleet",
            dependencies: ["RelayBase", "RelayJobs", "RelayPosix", "RelayPostgres", "RelayRecords"]
        ),
        .target(
            name: "RelaySystemd",
            dependencies: ["CLinux", "CSystemd", "RelayBase", "RelayJSON", "RelayPosix"]
        ),

        // The daemon's rooms.
        .target(
            name: "RelayEngine",
            dependencies: ["RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute"]
        ),
        .target(
            name: "RelayServer",
            dependencies: [
                "CPage", "RelayBase", "RelayCore", "RelayEngine", "RelayHTTP", "RelayInterface", "RelayJobs",
                "RelayJSON",
                "RelayPosix", "RelayRoute",
            ]
        ),
        .target(
            name: "RelayClient",
            dependencies: ["RelayBase", "RelayHTTP", "RelayInterface", "RelayJSON", "RelayPosix"]
        ),
        .target(name: "RelayClientFoundation", dependencies: ["RelayClient"]),

        // The port of `waystation ui`, between a browser and the control socket.
        .target(
            name: "WaystationUI",
            dependencies: ["RelayBase", "RelayClient", "RelayHTTP", "RelayJSON", "RelayPosix"]
        ),

        .executableTarget(
            name: "waystationd",
            dependencies: [
                "CLinux", "RelayBase", "RelayConfig", "RelayCore", "RelayEngine", "RelayFleet",
                "RelayInterface",
                "RelayJobs", "RelayJSON", "RelayPosix", "RelayPostgres", "RelayRoute", "RelayServer",
                "RelayStore", "RelaySystemd", "RelayTransport",
            ]
        ),
        .executableTarget(
            name: "waystation",
            dependencies: [
                "RelayBase", "RelayClient", "RelayConfig", "RelayFleet", "RelayHTTP", "RelayInterface",
                "RelayJobs", "RelayJSON", "RelayPosix", "RelayPostgres", "RelayRoute", "WaystationUI",
            ]
        ),

        // Tests, one target for each room.
        .target(
            name: "RelayTestSupport",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute",
                "RelayJSON",
                "RelayPosix", "RelayTesting",
            ],
            path: "Tests/RelayTestSupport"
        ),
        .testTarget(name: "RelayJSONTests", dependencies: ["RelayJSON", "RelayTestSupport"]),
        .testTarget(
            name: "RelayCoreTests",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayJSON",
                "RelayTestSupport",
            ]
        ),
        .testTarget(name: "RelayKitTests", dependencies: ["RelayJSON", "RelayKit", "RelayTestSupport"]),
        .testTarget(name: "RelayDoorsTests", dependencies: ["RelayDoors", "RelayKit", "RelayTesting"]),
        .testTarget(
            name: "RelayFoundationTests",
            dependencies: ["RelayFoundation", "RelayJSON", "RelayKit", "RelayTestSupport"]
        ),
        .target(
            name: "RelayEngineBench",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayEngine",
                "RelayServer",
                "RelayTestSupport",
            ],
            path: "Tests/RelayEngineBench"
        ),
        .testTarget(
            name: "RelayEngineTests",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayEngine",
                "RelayEngineBench",
                "RelayJSON", "RelayServer",
                "RelayTestSupport",
            ]
        ),
        .testTarget(
            name: "RelayServerTests",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayEngine",
                "RelayHTTP", "RelayJSON",
                "RelayPosix", "RelayServer",
                "RelayTestSupport",
            ]
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["RelayFoundation", "RelayKit", "RelaySockets", "RelayTesting"]
        ),
        .testTarget(name: "TidyTests"),
        .testTarget(
            name: "RelayHTTPTests",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayHTTP",
                "RelayTestSupport",
            ]
        ),
        .testTarget(
            name: "RelayConfigTests",
            dependencies: [
                "RelayConfig", "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute",
                "RelayJSON",
            ]
        ),
        .testTarget(name: "RelayPosixTests", dependencies: ["CLinux", "RelayPosix", "RelayTestSupport"]),
        .testTarget(
            name: "RelayTransportTests",
            dependencies: [
                "CLinux", "COpenSSL", "CZlib", "RelayBase", "RelayCore", "RelayInterface", "RelayJobs",
                "RelayRoute",
                "RelayPosix", "RelayTestSupport",
                "RelayTransport",
            ]
        ),
        .executableTarget(
            name: "StoreCrasher",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayPosix",
                "RelayStore",
            ],
            path: "Tests/StoreCrasher"
        ),
        .target(
            name: "RelayStoreBench",
            dependencies: ["RelayBase", "RelayJobs", "RelayStore", "RelayTestSupport"],
            path: "Tests/RelayStoreBench"
        ),
        .testTarget(
            name: "RelayStoreTests",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayPosix",
                "RelayRecords", "RelayStore", "RelayStoreBench",
                "RelayTestSupport", "StoreCrasher",
            ]
        ),
        // The promises of every job store.
        .testTarget(
            name: "JobStoreTests",
            dependencies: [
                "RelayBase", "RelayFleetBench", "RelayJobs", "RelayStoreBench", "RelayTestSupport",
            ]
        ),
        .target(
            name: "RelayFleetBench",
            dependencies: [
                "PostgresTestSupport", "RelayFleet", "RelayJobs", "RelayPosix", "RelayPostgres",
                "RelayTestSupport",
            ],
            path: "Tests/RelayFleetBench"
        ),
        .testTarget(
            name: "RelayFleetTests",
            dependencies: [
                "PostgresTestSupport", "RelayBase", "RelayFleetBench", "RelayFleet", "RelayJobs",
                "RelayPosix", "RelayPostgres", "RelayRecords",
                "RelayTestSupport",
            ]
        ),
        // A PostgreSQL of the tests' own, and the pooler before it.
        .target(
            name: "PostgresTestSupport",
            dependencies: ["RelayPosix", "RelayPostgres", "RelayTestSupport"],
            path: "Tests/PostgresTestSupport"
        ),
        .testTarget(
            name: "RelayPostgresTests",
            dependencies: [
                "COpenSSL", "PostgresTestSupport", "RelayPosix", "RelayPostgres", "RelayTestSupport",
            ]
        ),
        .testTarget(
            name: "RelaySystemdTests",
            dependencies: [
                "CLinux", "RelayBase", "RelayJSON", "RelayPosix", "RelaySystemd", "RelayTestSupport",
            ]
        ),
        .testTarget(
            name: "RelayClientTests",
            dependencies: [
                "RelayClient", "RelayClientFoundation", "RelayBase", "RelayCore", "RelayInterface",
                "RelayJobs",
                "RelayRoute",
                "RelayPosix",
                "RelayTestSupport", "waystationd",
            ]
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "RelayBase", "RelayConfig", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute",
                "RelayEngine", "RelayHTTP", "RelayJSON",
                "RelayServer", "RelayTestSupport", "RelayTesting", "waystation", "waystationd",
            ]
        ),
        .testTarget(
            name: "WaystationUITests",
            dependencies: [
                "RelayBase", "RelayClient", "RelayHTTP", "RelayPosix", "RelayRoute", "WaystationUI",
                "waystation",
            ]
        ),
        .testTarget(
            name: "WaystationdTests",
            dependencies: [
                "CLinux", "RelayBase", "RelayConfig", "RelayCore", "RelayInterface", "RelayJobs",
                "RelayRoute", "RelayEngine",
                "RelayEngineBench", "RelayJSON",
                "RelayPosix", "RelayServer", "RelayStore", "RelaySystemd", "RelayTestSupport", "RelayTesting",
                "waystationd",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Fuzz targets need a sanitizer that is no part of an ordinary build: Tests/Fuzz/run.
if Context.environment["RELAY_FUZZ"] != nil {
    let fuzzed = [
        ("JSON", ["RelayJSON"]),
        (
            "HTTPRequest",
            ["RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayHTTP"]
        ),
        (
            "HTTPResponse",
            ["RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayHTTP"]
        ),
        (
            "API",
            [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayEngine",
                "RelayHTTP", "RelayJSON",
                "RelayServer",
            ]
        ),
    ]
    // The strings of the API are read in the server's own types.
    for target in package.targets where target.name == "RelayServer" {
        target.swiftSettings = [.unsafeFlags(["-enable-testing"])]
    }
    for (name, rooms) in fuzzed {
        package.targets.append(
            .executableTarget(
                name: "Fuzz" + name,
                dependencies: rooms.map { .byName(name: $0) },
                path: "Tests/Fuzz/" + name,
                swiftSettings: [.unsafeFlags(["-parse-as-library"])]
            )
        )
    }
}

// The rooms that hold memory of C or of the kernel, their tests and what is below them: Tests/run sanitizer.
if Context.environment["RELAY_SANITIZER"] != nil {
    let rooms = [
        "RelayPosix", "RelayHTTP", "RelayPostgres", "RelayTransport", "RelayServer", "RelayStore",
        "RelayFleet",
    ]
    let below = [
        "CPage", "CPostgres", "CSQLiteFiles", "PostgresTestSupport",
        "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayEngine",
        "RelayJSON", "RelayTesting",
        "RelayFleetBench", "RelayRecords", "RelayStoreBench", "RelayTestSupport", "StoreCrasher",
    ]
    let kept = rooms + rooms.map { $0 + "Tests" } + ["JobStoreTests"] + below
    package.products = []
    package.targets.removeAll { $0.type != .system && !kept.contains($0.name) }
}

// The rooms that decide, and their tests: Tests/Planted/run.
if Context.environment["RELAY_PLANTED"] != nil {
    let rooms = ["RelayCore", "RelayKit"]
    let below = [
        "RelayBase", "RelayInterface", "RelayJobs", "RelayJSON", "RelayPosix", "RelayRoute", "RelayTesting",
        "RelayTestSupport",
    ]
    let kept = rooms + rooms.map { $0 + "Tests" } + below
    package.products = []
    package.targets.removeAll { $0.name != "CLinux" && !kept.contains($0.name) }
}

// A million jobs through the core in simulated worlds: Tests/Simulation/run.
if Context.environment["RELAY_SIMULATION"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Simulation",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayEngine",
                "RelayJSON",
                "RelayTestSupport",
            ],
            path: "Tests/Simulation",
            exclude: ["run"],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    )
}

// Timings of pure code: `RELAY_BENCHMARK=1 swift run -c release PureBenchmark`.
if Context.environment["RELAY_BENCHMARK"] != nil {
    package.targets.append(
        .executableTarget(
            name: "PureBenchmark",
            dependencies: [
                "RelayBase", "RelayCore", "RelayInterface", "RelayJobs", "RelayRoute", "RelayHTTP",
            ],
            path: "Tests/Benchmarks/PureBenchmark"
        )
    )
    package.targets.append(
        .executableTarget(
            name: "FleetBenchmark",
            dependencies: [
                "PostgresTestSupport", "RelayBase", "RelayFleet", "RelayFleetBench", "RelayJobs",
                "RelayPosix",
            ],
            path: "Tests/Fleet/Benchmark"
        )
    )
}

// Every upcoming feature the compiler has not folded into Swift 6 mode; an unknown name is accepted in silence,
// so the tidy tests compare this list with the compiler's.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]
for target in package.targets where target.type != .system {
    target.swiftSettings = settings + (target.swiftSettings ?? [])
}

// Rooms that no request goes through, or that wait for a database more than they work, are made small instead of fast:
// fewer pages to read, to map and to keep. Much of them is generic in what it fills or calls, of which the compiler would
// make a copy for each.
let flags = ["-Osize", "-Xllvm", "-sil-disable-pass=generic-specializer"]
let small = [
    "RelayConfig", "RelayFleet", "RelayInterface", "RelayPostgres", "RelaySystemd", "WaystationUI",
    "waystation",
]
for target in package.targets where small.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(flags, .when(configuration: .release)))
}
// The form of a debugger's words that the tool can read which counts instructions.
for target in package.targets where ["CPostgres", "CSQLiteFiles"].contains(target.name) {
    target.cSettings = [.unsafeFlags(["-gdwarf-4"])]
}
// Its closures start the tasks of requests: without copies for them each would cost an allocation.
for target in package.targets where target.name == "waystationd" {
    target.swiftSettings?.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
}
