/// A new job on its way to disk, shared by reference.
///
/// `NewJob` holds some twenty counted references, each of which a copy would retain.
package final class OfferedJob: Sendable {
    package let job: NewJob

    package init(_ job: consuming NewJob) { self.job = job }
}
