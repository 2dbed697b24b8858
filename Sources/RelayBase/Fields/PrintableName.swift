/// A name from outside as a message may show it: no controls, not long.
package func printable(_ name: String) -> String {
    let shown = name.unicodeScalars.prefix(64).map { scalar in
        scalar.value < 0x20 || scalar.properties.generalCategory == .control
            || scalar.properties.generalCategory == .format ? "?" : String(scalar)
    }
    return shown.joined() + (name.unicodeScalars.count > 64 ? "…" : "")
}
