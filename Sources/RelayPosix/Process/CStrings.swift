import Glibc

/// A null-terminated array of C strings, as `execvp` takes for arguments and environment.
///
/// No string may hold a NUL byte, at which C ends it.
@safe
package struct CStrings: ~Copyable {
    /// Valid while this lives; a null pointer, which `count` leaves out, ends it.
    package let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    package init(_ strings: [String]) {
        count = strings.count
        unsafe pointers = .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            guard let copy = unsafe strdup(string) else { fatalError("out of memory") }
            unsafe (pointers + index).initialize(to: copy)
        }
        unsafe (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
