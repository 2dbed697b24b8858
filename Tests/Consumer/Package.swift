// swift-tools-version: 6.3
import PackageDescription

// A program that uses the library as any other would: by its products, with the compiler as strict as it gets.
let package = Package(
    name: "consumer",
    dependencies: [.package(name: "waystation", path: "../..")],
    targets: [
        .executableTarget(
            name: "Consumer",
            dependencies: [
                .product(name: "RelayCore", package: "waystation"),
                .product(name: "RelayFoundation", package: "waystation"),
                .product(name: "RelayTransport", package: "waystation"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
