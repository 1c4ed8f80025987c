package import Calls
import Foundation
package import Logging
package import MediaFiles
import Metrics
package import Model
import ServiceLifecycle
package import Storage
import Synchronization

/// Mixes the tracks of each recording into one file, a few recordings at a time, in the background. Mixes that an
/// earlier process left pending are done first.
package final class RecordingMixes: Service {
    private struct State {
        var waiting = 0
        var running: [RecordingID: MixingStop] = [:]
    }

    private static let retryDelay = Duration.seconds(5)

    private let store: Store
    private let commands: CallCommands
    private let files: MediaFiles
    private let logger: Logger
    private let work: ConcurrencyLimiter
    private let jobs: JobQueue<RecordingID>
    private let state = Mutex(State())
    private let time = Timer(label: "recording_mix_seconds")

    package init(store: Store, commands: CallCommands, files: MediaFiles, logger: Logger) {
        self.store = store
        self.commands = commands
        self.files = files
        self.logger = logger
        // Calls come first: a mix takes a processor for minutes, so use half of them at most.
        let maxConcurrent = min(max(ProcessInfo.processInfo.activeProcessorCount / 2, 1), 2)
        work = ConcurrencyLimiter(maxConcurrent: maxConcurrent, maxWaiting: 0)
        jobs = JobQueue(maxConcurrent: maxConcurrent)
    }

    /// Mixes that wait to be made.
    package var waitingCount: Int { state.withLock { $0.waiting } }

    /// Begins to mix a recording whose mix is pending. All users of the recording are notified when it is done.
    package func mix(_ recording: RecordingID) {
        state.withLock { $0.waiting += 1 }
        jobs.add(recording)
    }

    /// The recording was removed: cancels its mix.
    package func forget(_ recording: RecordingID) { state.withLock { $0.running[recording] }?.stop() }

    package func run() async {
        do {
            for recording in try await store.read({ try $0.unmixedRecordings() }) { mix(recording) }
        } catch {
            logger.error("pending mixes cannot be read", metadata: ["error": "\(error)"])
        }
        await jobs.run { await self.make($0) }
    }

    private func make(_ id: RecordingID) async {
        state.withLock { $0.waiting -= 1 }
        let file = FileID.make(at: .systemClock())
        let mix: RecordingMix
        var tracks: [FileID] = []
        do {
            // Requested twice, or removed.
            guard let recording = try await store.read({ try $0.recording(id) }), recording.mix == .pending else {
                return
            }
            tracks = recording.tracks.map(\.file)
            mix = .complete(try await write(recording, to: file))
        } catch is CancellationError {
            // Removed, or left to the next process.
            await drop(file)
            return
        } catch {
            logger.error("a recording cannot be mixed", metadata: ["recording": "\(id)", "reason": "\(error)"])
            mix = .failed(MixingFailure.message(for: error))
        }
        await save(mix, of: id, tracks, file)
    }

    private func write(_ recording: Recording, to file: FileID) async throws -> RecordingMix.MixedAudio {
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

    /// - Parameter tracks: what it was made from. A track that is gone, since its user was deleted, must not be in it.
    private func save(_ mix: RecordingMix, of id: RecordingID, _ tracks: [FileID], _ file: FileID) async {
        Counter(label: "recording_mixes_total", dimensions: [("outcome", mix.status)]).increment()
        let commands = commands
        // If the disk is full, space may be freed meanwhile. Otherwise the mix stays pending for the next process.
        while !Task.isCancelled {
            do {
                let (isStored, isOutdated) = try await store.write { store in
                    let current = try store.recording(id)?.tracks.map(\.file)
                    if let current, mix.audio != nil, current != tracks { return (false, true) }
                    return (try commands.mixed(id, mix, in: store), false)
                }.value
                if isStored, mix.audio != nil { return }
                // If it is still wanted, it is made from what is left.
                if isOutdated { self.mix(id) }
                break
            } catch {
                logger.error("a mix cannot be stored", metadata: ["recording": "\(id)", "error": "\(error)"])
                try? await Task.sleep(for: Self.retryDelay)
            }
        }
        await drop(file)
    }

    /// In a task of its own, since this one may be cancelled.
    private func drop(_ file: FileID) async {
        await Task { [files] in try? await files.remove(file) }.value
    }
}
