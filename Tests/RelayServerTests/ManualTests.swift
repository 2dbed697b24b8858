import Glibc
import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import Testing

@testable import RelayServer

/// The page itself is checked by mandoc in Tests/documents.
@Suite("waystationd-api(7) leaves nothing of the interface out")
struct ManualTests {
    private static let page: [Substring] = {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let descriptor = unsafe open("\(root)/deploy/man/waystationd-api.7", O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }()

    /// The words of every entry of a section.
    private static func entries(_ section: String) -> [[Substring]] {
        page.drop { $0 != ".Sh \(section)" }.dropFirst().prefix { !$0.hasPrefix(".Sh ") }
            .filter { $0.hasPrefix(".It ") }.map {
                $0.split(separator: " ").dropFirst(2).filter { $0 != "," }
            }
    }

    /// Every call that there is, as `GET /v1/version submit`.
    private static var calls: Set<String> {
        var calls: Set<String> = []
        for (path, resource) in APICall.Resource.all {
            let shown = path.replacing("{id}", with: "ID").replacing("{route}", with: "ROUTE")
                .replacing("{number}", with: "NUMBER")
            for method in resource.methods {
                calls.insert("\(method.rawValue) \(shown) \(resource.role(method).rawValue)")
            }
        }
        return calls
    }

    @Test("Every resource with every method and the role it takes, and no other")
    func resources() {
        let told = Self.entries("RESOURCES").map { words in
            words.filter { $0 != "Pa" && $0 != "Pq" }.joined(separator: " ")
        }
        #expect(told.count == Set(told).count)
        #expect(Set(told) == Self.calls)
    }

    @Test("Every field of other standards that the relay reads")
    func fields() {
        let told = Self.entries("SENDING").compactMap(\.first).map(String.init)
        #expect(["Prefer", "Idempotency-Key"].filter { !told.contains($0) } == [])
    }

    @Test("Every type of event")
    func events() {
        let told = Self.entries("EVENTS").flatMap { $0 }.filter { $0.hasPrefix("waystation.") }.map(
            String.init
        )
        #expect(told.sorted() == EventKind.allCases.map(\.type).sorted())
    }

    @Test("Every member of a job's request, and every action")
    func options() {
        let told = Self.entries("JOBS AS DOCUMENTS").flatMap { $0 }.map(String.init)
        let members = SubmissionHints.requestMembers.map { "request." + $0 }
        #expect(members.filter { !told.contains($0) } == [])
        #expect(Self.entries("ACTIONS").flatMap { $0 }.map(String.init) == JobAction.allCases.map(\.rawValue))
    }
}
