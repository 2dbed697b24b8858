import RelayPosix
import Testing

@Suite("The reserve of descriptors")
struct DescriptorReserveTests {
    @Test(
        "It is the last quarter of few and the last 64 of many",
        arguments: [(0, 0), (64, 48), (1024, 960), (65_536, 65_472), (UInt64.max, Int32.max - 64)]
    )
    func start(limit: UInt64, first: Int32) { #expect(DescriptorReserve.start(of: limit) == first) }

    @Test("A process that sets nothing aside may use all of its descriptors")
    func none() { #expect(!DescriptorReserve().contains(.max - 1)) }

    @Test("The reserve that is set aside begins at its first number")
    func setAside() {
        let reserve = DescriptorReserve()
        reserve.setAside(of: 64)
        #expect(!reserve.contains(47) && reserve.contains(48) && reserve.contains(63))
    }
}
