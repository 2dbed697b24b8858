/// In which order the outcomes of a job stream come.
public enum JobOrder: String, CaseIterable, Sendable {
    /// As the jobs end.
    case completion
    /// As the requests came; an outcome waits for those before it.
    case input
}
