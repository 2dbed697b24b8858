import RelayRoute
import Testing

@Suite("The rights that the role of a listener gives its callers")
struct RoleTests {
    @Test(
        "Each role includes those before it, and the metrics tell too much for who only submits",
        arguments: [
            (Role.metrics, [Role.metrics]), (.submit, [.submit]), (.read, [.metrics, .submit, .read]),
            (.operate, [.metrics, .submit, .read, .operate]), (.admin, Role.allCases),
        ]
    )
    func includes(_ role: Role, _ others: [Role]) {
        #expect(Role.allCases.filter { role.includes($0) } == others)
    }
}
