import Testing

@testable import WaystationUI

@Suite("The names of users that the page asks waystation ui for")
struct PageUsersTests {
    @Test(
        "Those that are known are told, and no more than a page names",
        arguments: [
            ("/ui/users?ids=7", #"{"7":"user7"}"#), ("/ui/users?ids=7,8,4294967295", #"{"7":"user7"}"#),
            ("/ui/users?ids=", "{}"), ("/ui/users?ids=-1,x,4294967296,../7", "{}"),
            ("/ui/users?ids=" + Array(repeating: "8", count: 16).joined(separator: ",") + ",7", "{}"),
            ("/ui/users", nil), ("/ui/page.js?ids=7", nil), ("/v1/users?ids=7", nil),
        ]
    )
    func names(target: String, told: String?) {
        let found = PageUsers.document(target) { $0 == 7 ? "user7" : nil }
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == told)
    }
}
