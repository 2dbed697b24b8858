/// The one place that says which version this is.
package enum Version {
    /// As in `waystation --version`.
    package static let text = "0.1.0"
    /// The `User-Agent` of the command and of the daemon's own requests for tokens.
    package static let userAgent = "waystation/" + text
    /// The `User-Agent` of programs that use the library and do not set one.
    package static let libraryUserAgent = "waystation-swift/" + text
}
