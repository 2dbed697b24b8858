import Glibc

/// An open descriptor with one owner; closed when the owner lets go.
package struct FileDescriptor: ~Copyable, Sendable {
    package let raw: Int32

    /// Takes over an open descriptor.
    package init(_ raw: Int32) {
        self.raw = raw
    }

    deinit {
        _ = Glibc.close(raw)
    }

    /// Gives up ownership: the caller closes it.
    package consuming func release() -> Int32 {
        let raw = raw
        discard self
        return raw
    }

    package consuming func close() {}
}
