/// When a step of preparation runs.
public enum PreparationPhase: String, CaseIterable, Sendable {
    /// Once, before the first attempt.
    case job
    /// Before every attempt, always on the request as it was before any attempt.
    case attempt
}
