import Calls
import Foundation
import Logging
import MediaFiles
import Metrics
import Model
import ServiceLifecycle
import Storage
import Synchronization
import WebAPI

/// Puts the tracks of recordings into one file each, a few at a time, beside the calls that go on. What a process before
/// this one left is done first.
final class RecordingMixes: RecordingMixing, Service {
    private struct State {
        var waiting = 0
        var running: [RecordingID: MixingStop] = [:]
    }

    private static let pause = Duration.seconds(5)

    private let store: Store
    private let commands: CallCommands
    private let files: MediaFiles
    private let logger: Logger
    private let work: BoundedWork
    private let backlog: Backlog<RecordingID>
    private let state = Mutex(State())
    private let time = Timer(label: "recording_mix_seconds")

    init(store: Store, commands: CallCommands, files: MediaFiles, logger: Logger) {
        self.store = store
        self.commands = commands
        self.files = files
        self.logger = logger
        // Nobody waits for it beside a call: half of the processors at most, and a mix takes one for minutes.
        let most = min(max(ProcessInfo.processInfo.activeProcessorCount / 2, 1), 2)
        work = BoundedWork(atATime: most, mostWaiting: 0)
        backlog = Backlog(most: most)
    }

    /// Mixes that wait for a processor.
    var waitingCount: Int { state.withLock { $0.waiting } }

    func mix(_ recording: RecordingID) {
        state.withLock { $0.waiting += 1 }
        backlog.add(recording)
    }

    func forget(_ recording: RecordingID) { state.withLock { $0.running[recording] }?.stop() }

    func run() async {
        do {
            for recording in try await store.read({ try $0.unmixedRecordings() }) { mix(recording) }
        } catch {
            logger.error("mixes that are to be made cannot be read", metadata: ["error": "\(error)"])
        }
        await backlog.run { await self.make($0) }
    }

    private func make(_ id: RecordingID) async {
        state.withLock { $0.waiting -= 1 }
        let file = FileID.make(at: .systemClock())
        let mix: RecordingMix
        do {
            // Asked for twice, or removed.
            guard let recording = try await store.read({ try $0.recording(id) }), recording.mix == .pending else {
                return
            }
            mix = .complete(try await write(recording, to: file))
        } catch is CancellationError {
            // Gone, or to be made by the next process.
            await drop(file)
            return
        } catch {
            logger.error("a recording cannot be mixed", metadata: ["recording": "\(id)", "reason": "\(error)"])
            mix = .failed(MixingFailure.words(error))
        }
        await keep(mix, of: id, file)
    }

    private func write(_ recording: Recording, to file: FileID) async throws -> RecordingMix.Sound {
        let mixing = MixingWork(recording, in: files, to: file)
        let stop = MixingStop()
        state.withLock { $0.running[recording.id] = stop }
        defer { state.withLock { $0.running[recording.id] = nil } }
        let start = ContinuousClock.now
        defer { time.record(duration: ContinuousClock.now - start) }
        return try await withTaskCancellationHandler {
            try await work.run { try mixing.run(until: stop) }
        } onCancel: {
            stop.stop()
        }
    }

    private func keep(_ mix: RecordingMix, of id: RecordingID, _ file: FileID) async {
        Counter(label: "recording_mixes_total", dimensions: [("outcome", mix.status)]).increment()
        let commands = commands
        // A disk that has no room for the row may have some when somebody made it. Else it stays pending, for the next
        // process.
        while !Task.isCancelled {
            do {
                let isKept = try await store.write { try commands.mixed(id, mix, in: $0) }.value
                if isKept, mix.sound != nil { return }
                break
            } catch {
                logger.error("a mix cannot be kept", metadata: ["recording": "\(id)", "error": "\(error)"])
                try? await Task.sleep(for: Self.pause)
            }
        }
        await drop(file)
    }

    /// In a task of its own, since this one may be cancelled.
    private func drop(_ file: FileID) async {
        await Task { [files] in try? await files.remove(file) }.value
    }
}
