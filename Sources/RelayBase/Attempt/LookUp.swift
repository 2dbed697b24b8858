/// An upstream's word when it is asked what became of a request.
public enum LookUp: String, CaseIterable, Sendable {
    /// It was carried out.
    case found
    /// It was not carried out.
    case absent
    /// Neither, or it could not be asked.
    case unclear
}
