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

/// Starts and stops recordings and captions of calls in the gateway, and stores how recordings end.
///
/// Commands enqueue jobs on the store's writer thread; one task performs them in order.
final class CallRecorder: Service {
    private enum Job: Sendable {
        case begin(RecordingID, CallID)
        case end(CallID)
        case caption(CallID)
        case uncaption(CallID)
    }

    /// Why the audio of a call is tapped.
    private enum TapPurpose {
        case recording, captions
    }

    private struct Parts {
        var recorder: AudioRecorder?
        var files: (any RecordingFiles)?
        var legs: GatewayLegs?
        var calls: CallService?
        var captioner: Captioner?
        var ended: @Sendable (RecordingID) -> Void = { _ in }
        var purposes: [CallID: Set<TapPurpose>] = [:]
        var isStopping = false
    }

    private static let retryDelay = Duration.seconds(5)

    private let logger: Logger
    private let jobs = AsyncStream.makeStream(of: Job.self)
    private let parts = Mutex(Parts())
    private let begun = Counter(label: "recordings_started_total")

    init(logger: Logger) {
        self.logger = logger
    }

    /// Sets the dependencies. Called before the server listens.
    ///
    /// - Parameter ended: called for each recording that has ended.
    func open(
        _ legs: GatewayLegs, _ files: any RecordingFiles, _ calls: CallService, _ captioner: Captioner?,
        ended: @escaping @Sendable (RecordingID) -> Void
    ) {
        parts.withLock {
            $0 = Parts(
                recorder: legs.recorder, files: files, legs: legs, calls: calls, captioner: captioner, ended: ended)
        }
    }

    /// Called on the store's writer thread.
    func begin(_ recording: RecordingID, of call: CallID) { jobs.continuation.yield(.begin(recording, call)) }

    /// Called on the store's writer thread.
    func end(_ call: CallID) { jobs.continuation.yield(.end(call)) }

    /// Called on the store's writer thread.
    func caption(_ call: CallID) { jobs.continuation.yield(.caption(call)) }

    /// Called on the store's writer thread.
    func uncaption(_ call: CallID) { jobs.continuation.yield(.uncaption(call)) }

    func run() async {
        await cancelWhenGracefulShutdown { [self] in
            for await job in jobs.stream { await perform(job) }
        }
        // The files are complete up to here. The next process marks the recordings as interrupted.
        let (recorder, captioner) = parts.withLock { parts in
            parts.isStopping = true
            return (parts.recorder, parts.captioner)
        }
        await recorder?.stop()
        await captioner?.stop()
    }

    private func perform(_ job: Job) async {
        let (recorder, files, captioner) = parts.withLock { ($0.recorder, $0.files, $0.captioner) }
        guard let recorder, let files else { return }
        switch job {
        case .begin(let recording, let call):
            begun.increment()
            await recorder.begin(recording.text, of: call.text, into: files) { [weak self] end in
                self?.recordingEnded(end)
            }
            tap(call, for: .recording)
        case .end(let call):
            untap(call, for: .recording)
            await recorder.endWithoutWaiting(call.text)
        case .caption(let call):
            guard let captioner else { return }
            await recorder.listen(to: call.text, captioner.begin(call))
            tap(call, for: .captions)
        case .uncaption(let call):
            untap(call, for: .captions)
            await recorder.stopListening(to: call.text)
            await captioner?.end(call)
        }
    }

    private func tap(_ call: CallID, for purpose: TapPurpose) {
        parts.withLock { parts in
            let isFirst = parts.purposes[call] == nil
            parts.purposes[call, default: []].insert(purpose)
            if isFirst { parts.legs?.tap(call, isOn: true) }
        }
    }

    private func untap(_ call: CallID, for purpose: TapPurpose) {
        parts.withLock { parts in
            guard parts.purposes[call]?.remove(purpose) != nil, parts.purposes[call]?.isEmpty == true else { return }
            parts.purposes[call] = nil
            parts.legs?.tap(call, isOn: false)
        }
    }

    /// Called in the recorder, so it must be brief.
    private func recordingEnded(_ end: RecordingEnd) {
        guard let recording = RecordingID(end.recording), let call = CallID(end.call) else { return }
        Counter(label: "recordings_ended_total", dimensions: [("outcome", end.failure == nil ? "complete" : "failed")])
            .increment()
        if let failure = end.failure {
            logger.error("a recording ended", metadata: ["call": "\(call)", "reason": "\(failure)"])
        }
        Task { await write(recording, of: call, end.failure) }
    }

    private func write(_ recording: RecordingID, of call: CallID, _ failure: String?) async {
        if failure != nil { untap(call, for: .recording) }
        // If the disk is full, this fails as well until space is freed.
        while let calls = parts.withLock({ $0.isStopping ? nil : $0.calls }) {
            do {
                try await calls.note { store, commands in
                    try commands.recordingEnded(recording, of: call, failure: failure, at: store.now, in: store)
                }
                return parts.withLock { $0.ended }(recording)
            } catch {
                logger.error("the end of a recording cannot be stored", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.retryDelay)
            }
        }
    }
}
