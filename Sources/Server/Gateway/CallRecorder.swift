import Calls
import Logging
import MediaFiles
import MediaGateway
import Metrics
import Model
import ServiceLifecycle
import Storage
import Synchronization
import WebAPI

/// Has the gateway record the calls that are to be recorded, and writes how recordings end.
///
/// Commands decide, and hand it over on the writer's thread; what they decided is worked off by one task, in its order.
final class CallRecorder: Service {
    private enum Job: Sendable {
        case begin(RecordingID, CallID)
        case end(CallID)
    }

    private struct Parts {
        var recorder: SoundRecorder?
        var files: (any RecordingFiles)?
        var legs: GatewayLegs?
        var calls: CallService?
        var ended: @Sendable (RecordingID) -> Void = { _ in }
        var isStopping = false
    }

    private static let pause = Duration.seconds(5)

    private let logger: Logger
    private let jobs = AsyncStream.makeStream(of: Job.self)
    private let parts = Mutex(Parts())
    private let begun = Counter(label: "recordings_begun_total")

    init(logger: Logger) {
        self.logger = logger
    }

    /// Connects it with the gateway, with where files are kept, and with who wants to know of what has ended; before the
    /// server listens.
    func open(
        _ legs: GatewayLegs, _ files: any RecordingFiles, _ calls: CallService,
        ended: @escaping @Sendable (RecordingID) -> Void
    ) {
        parts.withLock {
            $0 = Parts(recorder: legs.recorder, files: files, legs: legs, calls: calls, ended: ended)
        }
    }

    /// Called on the store's writer thread.
    func begin(_ recording: RecordingID, of call: CallID) { jobs.continuation.yield(.begin(recording, call)) }

    /// Called on the store's writer thread.
    func end(_ call: CallID) { jobs.continuation.yield(.end(call)) }

    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            for await job in jobs.stream { await work(job) }
        }
        // What is recorded until now is whole. That it was interrupted is written by the next process.
        let recorder = parts.withLock { parts in
            parts.isStopping = true
            return parts.recorder
        }
        await recorder?.stop()
    }

    private func work(_ job: Job) async {
        let (recorder, files, legs) = parts.withLock { ($0.recorder, $0.files, $0.legs) }
        guard let recorder, let files, let legs else { return }
        switch job {
        case .begin(let recording, let call):
            begun.increment()
            await recorder.begin(recording.text, of: call.text, into: files) { [weak self] end in self?.note(end) }
            legs.tap(call, isOn: true)
        case .end(let call):
            legs.tap(call, isOn: false)
            await recorder.end(call.text)
        }
    }

    /// Called in the recorder: it must be brief.
    private func note(_ end: RecordingEnd) {
        guard let recording = RecordingID(end.recording), let call = CallID(end.call) else { return }
        Counter(label: "recordings_ended_total", dimensions: [("outcome", end.failure == nil ? "complete" : "failed")])
            .increment()
        if let failure = end.failure {
            logger.error("a recording ended", metadata: ["call": "\(call)", "reason": "\(failure)"])
        }
        Task { await write(recording, of: call, end.failure) }
    }

    private func write(_ recording: RecordingID, of call: CallID, _ failure: String?) async {
        if failure != nil { parts.withLock { $0.legs }?.tap(call, isOn: false) }
        // A disk that has no room for the recording may have none for this either, until somebody makes some.
        while let calls = parts.withLock({ $0.isStopping ? nil : $0.calls }) {
            do {
                try await calls.note { store, commands in
                    try commands.recordingEnded(recording, of: call, failure: failure, at: store.now, in: store)
                }
                return parts.withLock { $0.ended }(recording)
            } catch {
                logger.error("the end of a recording is not written", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}
