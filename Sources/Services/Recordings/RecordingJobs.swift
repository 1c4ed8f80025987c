import Calls
import Model

/// The queue of what is to be recorded and captioned, in the order of the commands; `CallRecorder` reads it.
package struct RecordingJobs: Sendable {
    enum Job: Sendable {
        case begin(RecordingID, CallID)
        case end(CallID)
        case caption(CallID)
        case uncaption(CallID)
    }

    private let queue = AsyncStream.makeStream(of: Job.self)

    package init() {}

    var all: AsyncStream<Job> { queue.stream }

    /// Called on the store's writer thread.
    func add(_ job: Job) { queue.continuation.yield(job) }
}
