/// A new job on its way to disk, as all who have to do with it hold it: a copy would count twenty owners of memory.
package final class OfferedJob: Sendable {
    package let job: NewJob

    package init(_ job: consuming NewJob) { self.job = job }
}
