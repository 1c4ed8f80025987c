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

/// Has the gateway record the calls that are to be recorded, writes how recordings end, and has captions made of the calls
/// that are to have some.
///
/// Commands decide, and hand it over on the writer's thread; what they decided is worked off by one task, in its order.
final class CallRecorder: Service {
    private enum Job: Sendable {
        case begin(RecordingID, CallID)
        case end(CallID)
        case caption(CallID)
        case uncaption(CallID)
    }

    /// What a call is tapped for.
    private enum Use {
        case recording, captions
    }

    private struct Parts {
        var recorder: SoundRecorder?
        var files: (any RecordingFiles)?
        var legs: GatewayLegs?
        var calls: CallService?
        var captioner: Captioner?
        var ended: @Sendable (RecordingID) -> Void = { _ in }
        var uses: [CallID: Set<Use>] = [:]
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

    /// Connects it with the gateway, with where files are kept, with who makes captions, and with who wants to know of what
    /// has ended; before the server listens.
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
            for await job in jobs.stream { await work(job) }
        }
        // What is recorded until now is whole. That it was interrupted is written by the next process.
        let (recorder, captioner) = parts.withLock { parts in
            parts.isStopping = true
            return (parts.recorder, parts.captioner)
        }
        await recorder?.stop()
        await captioner?.stop()
    }

    private func work(_ job: Job) async {
        let (recorder, files, captioner) = parts.withLock { ($0.recorder, $0.files, $0.captioner) }
        guard let recorder, let files else { return }
        switch job {
        case .begin(let recording, let call):
            begun.increment()
            await recorder.begin(recording.text, of: call.text, into: files) { [weak self] end in self?.note(end) }
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
            await recorder.unlisten(to: call.text)
            await captioner?.end(call)
        }
    }

    private func tap(_ call: CallID, for use: Use) {
        parts.withLock { parts in
            let isFirst = parts.uses[call] == nil
            parts.uses[call, default: []].insert(use)
            if isFirst { parts.legs?.tap(call, isOn: true) }
        }
    }

    private func untap(_ call: CallID, for use: Use) {
        parts.withLock { parts in
            guard parts.uses[call]?.remove(use) != nil, parts.uses[call]?.isEmpty == true else { return }
            parts.uses[call] = nil
            parts.legs?.tap(call, isOn: false)
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
        if failure != nil { untap(call, for: .recording) }
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
