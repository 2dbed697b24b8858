import RelayPosix
import Testing

@Suite("User namespaces")
struct UserNamespaceTests {
    @Test(
        "Callers are hidden where the namespace has no place for their ids",
        arguments: [
            ("         0          0 4294967295\n", false),
            // PrivateUsers=identity, and what a container is usually given.
            ("         0          0      65536\n", false),
            ("         0     100000      65536\n", false),
            // PrivateUsers=yes: root, the service's own user, and nobody else.
            ("         0          0          1\n     61184      61184          1\n", true),
            (
                "         0          0          1\n     61184      61184          1\n     65534      65534          1\n",
                true
            ),
            // Not what the kernel writes: nothing is said about it.
            ("", false), ("0 0\n", false), ("a b c\n", false),
        ]
    )
    func map(text: String, hides: Bool) {
        #expect(UserNamespace.hidesCallers(map: text) == hides)
    }
}
