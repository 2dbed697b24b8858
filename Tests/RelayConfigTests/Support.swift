import Glibc
import RelayConfig

/// Accounts that exist on no machine in particular.
let testAccounts = AccountResolver(
    user: { name in ["root": 0, "www-data": 33, "ledger": 1001][name] },
    group: { name in ["root": 0, "adm": 4, "waystation": 990][name] },
    zoneFile: { name in
        switch name {
        case "Europe/Berlin": return testZone
        case "Broken/Zone": return testZone.dropLast(9)
        case "right/UTC":
            var zone = testZone
            // The second head counts leap seconds.
            zone[82] = 27
            return zone
        default: return nil
        }
    }
)

/// A file of the tz database without changes on record.
private let testZone: [UInt8] = {
    let head = { (types: UInt8) in
        Array("TZif2".utf8) + [UInt8](repeating: 0, count: 34) + [types] + [0, 0, 0, 1]
    }
    let type: [UInt8] = [0, 0, 14, 16, 0, 0, 0]
    return head(1) + type + head(1) + type + Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)
}()

/// 2026-11-20T00:00:00Z.
let testSeconds: Int64 = 1_795_132_800

func read(_ text: String) -> ReadResult {
    ConfigurationReader.read(
        Array(text.utf8),
        file: "t.json",
        accounts: testAccounts,
        wallSeconds: testSeconds,
        notesValues: true
    )
}

/// A file of the package, by its path from the top.
func packageFile(_ path: String) -> [UInt8] {
    guard let file = unsafe fopen(packagePath(path), "r") else { return [] }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while true {
        let byte = unsafe getc(file)
        guard byte >= 0 else { return bytes }
        bytes.append(UInt8(truncatingIfNeeded: byte))
    }
}

/// Writes a generated file, when the environment asks for it instead of a comparison.
func writePackageFile(_ path: String, _ bytes: [UInt8]) {
    guard let file = unsafe fopen(packagePath(path), "w") else { return }
    for byte in bytes { unsafe putc(CInt(byte), file) }
    unsafe fclose(file)
}

private func packagePath(_ path: String) -> String {
    #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/\(path)"
}
