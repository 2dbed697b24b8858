import RelayBase
import RelayJSON
import RelayRoute

struct ListenerDraft {
    var name = ""
    var unix: String?
    var tcp: LoopbackEndpoint?
    var mode: UInt32 = 0o660
    var group: String?
    var role = Role.submit
    var allowedUsers: [UInt32] = []

    /// The sockets of a configuration that names none.
    static let standard = [
        ListenerDraft(name: "jobs", unix: "/run/waystation/jobs.sock", group: "waystation"),
        ListenerDraft(name: "control", unix: "/run/waystation/control.sock", mode: 0o600, role: .admin),
    ]
}

extension ConfigurationTable {
    static var listeners: ValueKind<[ListenerDraft]> {
        .list(listener.kind, minimum: 1, maximum: 64).writing { drafts in
            .array(
                drafts.map { draft in
                    var members = [JSONValue.Member("name", .string(draft.name))]
                    if let path = draft.unix { members.append(JSONValue.Member("unix", .string(path))) }
                    members.append(JSONValue.Member("mode", .string(modeText(draft.mode))))
                    if let group = draft.group { members.append(JSONValue.Member("group", .string(group))) }
                    members.append(JSONValue.Member("role", .string(draft.role.rawValue)))
                    return .object(members)
                }
            )
        }
    }

    private static var listener: Section<ListenerDraft> {
        Section(
            "listener",
            "One socket on which callers are served.",
            of: ListenerDraft(),
            choices: [.exactlyOne("unix", "tcp")]
        ) {
            Field("name", .name, \.name, isRequired: true) {
                "Its name in the journal, and of the file descriptor systemd passes for it."
            }
            Field("unix", .socketPath, \.unix) {
                "Path of a Unix socket. Of a socket that systemd passes its unit says path, mode and group "
                    + "(ListenStream=, SocketMode=, SocketGroup=), and these keys nothing."
            }
            Field("tcp", .loopback, \.tcp) {
                "A loopback address and port, for callers that cannot use a Unix socket."
            }
            Field("mode", mode, \.mode) { "Permissions of the Unix socket, four octal digits." }
            Field("group", .string(upTo: 255), \.group) { "The group that owns the Unix socket." }
            Field("role", .word(), \.role) {
                "What callers may do here at most: metrics reads /metrics and nothing else, submit uses routes and "
                    + "sees its own jobs, read sees everything, operate may also change jobs and routes, admin may "
                    + "reload."
            }
            Field("allow_users", .list(.user), \.allowedUsers) {
                "Users who may connect, by name or number; empty allows everyone who can open the socket."
            }
        } check: { draft, node, reading in
            if draft.tcp != nil {
                for key in ["mode", "group"] {
                    guard let member = node[key] else { continue }
                    reading.error(
                        "\"\(key)\" belongs to a Unix socket",
                        at: member.nameRange,
                        hint: "remove it"
                    )
                }
                // The kernel names the user behind a Unix socket, not the one behind a port.
                if let member = node["allow_users"] {
                    reading.error(
                        "\"allow_users\" cannot be enforced on a port in this version",
                        at: member.nameRange,
                        hint: "remove it, or serve these users on a Unix socket"
                    )
                }
                if draft.role.includes(.read) {
                    reading.warn(
                        "every user of this machine gets the role \"\(draft.role.rawValue)\" here",
                        at: node.location("tcp"),
                        hint: "use a Unix socket with \"mode\" and \"allow_users\""
                    )
                }
            } else if draft.mode & 0o002 != 0, draft.role.includes(.read), draft.allowedUsers.isEmpty {
                reading.warn(
                    "every user of this machine gets the role \"\(draft.role.rawValue)\" here",
                    at: node.location("mode"),
                    hint: "write \"0660\" or name those who may connect with \"allow_users\""
                )
            }
            if let group = draft.group, node["group"] != nil, reading.accounts.group(group) == nil {
                reading.warn(
                    "no group named \"\(printable(group))\" on this machine",
                    at: node.location("group")
                )
            }
        }
    }

    private static func modeText(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    private static var mode: ValueKind<UInt32> {
        .text("four octal digits such as \"0660\"", pattern: "^0[0-7]{3}$") {
            text throws(Refusal) in
            guard text.utf8.count == 4, text.utf8.first == UInt8(ascii: "0"),
                text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 8 }), let mode = UInt32(text, radix: 8)
            else { throw Refusal("expected four octal digits such as \"0660\"") }
            return mode
        }.writing { .string(modeText($0)) }
    }

    /// Names and addresses must be unique among all listeners.
    static func checkListeners(_ node: JSONNode, _ reading: inout ReadContext) {
        guard let list = node["listeners"]?.value else { return }
        reading.within("listeners") { reading in
            checkUnique("name", in: list, "listener", &reading)
            checkUnique("unix", in: list, "listener", &reading)
            checkUnique("tcp", in: list, "listener", &reading)
        }
        let isServed = list.elements.contains { ["operate", "admin"].contains($0["role"]?.value.text) }
        guard !isServed, !reading.hasErrors else { return }
        reading.warn(
            "no listener has the role \"admin\": no command can reload the daemon, or act on jobs and routes",
            at: node.location("listeners"),
            hint:
                "add {\"name\": \"control\", \"unix\": \"/run/waystation/control.sock\", \"mode\": \"0600\", "
                + "\"role\": \"admin\"}"
        )
    }

    /// Reports every element whose text at `key` an earlier element has too.
    static func checkUnique(_ key: String, in list: JSONNode, _ what: String, _ reading: inout ReadContext) {
        var seen: Set<[UInt8]> = []
        for (index, element) in list.elements.enumerated() {
            guard let text = element[key]?.value.text, !seen.insert(Array(text.utf8)).inserted else {
                continue
            }
            reading.error("another \(what) has the same \"\(key)\"", at: list.location("\(index)", key))
        }
    }
}
