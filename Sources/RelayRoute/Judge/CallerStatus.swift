package import RelayBase
import RelayJSON

extension ResponseJudge {
    /// The status under which the caller gets an error document; nil where that is the answer's own.
    package func callerStatus(of response: HTTPResponse) -> Status? {
        guard let wanted = route.policy.apiError?.callerStatus, response.status.rawValue < 400 else {
            return nil
        }
        guard let pointer = wanted.pointer, case .bytes(let bytes) = response.body,
            let named = status(at: pointer, in: bytes)
        else { return wanted.status }
        return named
    }

    /// The status of a failure that stands there, as a number or as text.
    private func status(at pointer: JSONPointer, in bytes: [UInt8]) -> Status? {
        let content = skippingByteOrderMark(bytes)
        guard let range = (try? JSONScan.locate([pointer], in: content.span))?.first ?? nil,
            let value = try? JSONValue(parsing: Array(content[range]))
        else { return nil }
        let code: UInt16? =
            switch value {
            case .number(let number): UInt16(number.text)
            case .string(let text): UInt16(text)
            default: nil
            }
        guard let code, (400...599).contains(code) else { return nil }
        return Status(rawValue: code)
    }
}
