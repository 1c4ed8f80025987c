import Calls
package import Logging
import MediaGateway
import Metrics
import Model
import ServiceLifecycle
import Storage
import Synchronization

/// Starts and stops recordings and captions of calls in the gateway, in the order of the commands, and stores how
/// recordings end.
package final class CallRecorder: Service {
    /// Why the audio of a call is tapped.
    private enum TapPurpose {
        case recording, captions
    }

    private struct State {
        var purposes: [CallID: Set<TapPurpose>] = [:]
        var isStopping = false
    }

    private static let retryDelay = Duration.seconds(5)

    private let jobs: RecordingJobs
    private let gateway: GatewayLegs
    private let files: RecordedFiles
    private let calls: CallService
    private let captioner: Captioner?
    private let transcripts: RecordingTranscripts
    private let logger: Logger
    private let state = Mutex(State())
    private let begun = Counter(label: "recordings_started_total")

    /// - Parameters:
    ///   - captioner: nil without a transcription provider.
    ///   - transcripts: notified of each recording that has ended.
    package init(
        _ jobs: RecordingJobs, gateway: GatewayLegs, files: RecordedFiles, calls: CallService, captioner: Captioner?,
        transcripts: RecordingTranscripts, logger: Logger
    ) {
        self.jobs = jobs
        self.gateway = gateway
        self.files = files
        self.calls = calls
        self.captioner = captioner
        self.transcripts = transcripts
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown { [self] in
            for await job in jobs.all { await handle(job) }
        }
        // The files are complete up to here. The next process marks the recordings as interrupted.
        state.withLock { $0.isStopping = true }
        await gateway.recorder.stop()
        await captioner?.stop()
    }

    private func handle(_ job: RecordingJobs.Job) async {
        switch job {
        case .begin(let recording, let call):
            begun.increment()
            await gateway.recorder.begin(recording.text, of: call.text, into: files) { [weak self] end in
                self?.recordingEnded(end)
            }
            tap(call, for: .recording)
        case .end(let call):
            untap(call, for: .recording)
            await gateway.recorder.endWithoutWaiting(call.text)
        case .caption(let call):
            guard let captioner else { return }
            await gateway.recorder.listen(to: call.text, captioner.begin(call))
            tap(call, for: .captions)
        case .uncaption(let call):
            untap(call, for: .captions)
            await gateway.recorder.stopListening(to: call.text)
            await captioner?.end(call)
        }
    }

    private func tap(_ call: CallID, for purpose: TapPurpose) {
        state.withLock { state in
            let isFirst = state.purposes[call] == nil
            state.purposes[call, default: []].insert(purpose)
            if isFirst { gateway.tap(call, isOn: true) }
        }
    }

    private func untap(_ call: CallID, for purpose: TapPurpose) {
        state.withLock { state in
            guard state.purposes[call]?.remove(purpose) != nil, state.purposes[call]?.isEmpty == true else { return }
            state.purposes[call] = nil
            gateway.tap(call, isOn: false)
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
        while !state.withLock({ $0.isStopping }) {
            do {
                try await calls.note { store, commands in
                    try commands.recordingEnded(recording, of: call, failure: failure, at: store.now, in: store)
                }
                return transcripts.ended(recording)
            } catch {
                logger.error("the end of a recording cannot be stored", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.retryDelay)
            }
        }
    }
}
