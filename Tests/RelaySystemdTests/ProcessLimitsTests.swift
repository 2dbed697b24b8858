import CLinux
import Testing

@testable import RelaySystemd

@Suite("The limits that the process asks of the kernel")
struct ProcessLimitsTests {
    @Test("Nobody may look into its memory")
    func dump() {
        ProcessLimits.apply()
        #expect(relay_may_dump() == 0)
    }
}
