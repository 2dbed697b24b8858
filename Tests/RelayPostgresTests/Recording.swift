import Testing

/// Runs on a thread that nobody hears of, and records what it throws.
func recording(_ body: () throws -> Void) { do { try body() } catch { Issue.record(error) } }
