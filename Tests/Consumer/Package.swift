// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "consumer",
    dependencies: [.package(name: "waystation", path: "../..")],
    targets: [
        .executableTarget(
            name: "Consumer",
            dependencies: [
                .product(name: "RelayFoundation", package: "waystation"),
                .product(name: "RelayKit", package: "waystation"),
                .product(name: "RelaySockets", package: "waystation"),
                .product(name: "RelayTesting", package: "waystation"),
            ]
        )
    ]
)

// For the examples that a script answers.
package.targets[0].dependencies.append(.product(name: "RelayTesting", package: "waystation"))

// A program that uses the library as any other would: by its products, with the compiler as strict as it gets.
for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ]
}
