import Glibc

/// Strings as C takes lists of them: each ends with a zero byte, the list with a null pointer.
@safe
package struct CStrings: ~Copyable {
    package let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    package init(_ strings: [String]) {
        count = strings.count
        unsafe pointers = .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            unsafe (pointers + index).initialize(to: strdup(string))
        }
        unsafe (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
