import Containers
package import Gateway
import RTP
package import Wire

/// Hears what is said in calls, beside the threads that forward it: writes it to files, a file for each track, and tells
/// those who listen.
///
/// It takes from the taps what has come, twenty times a second. Its files may be slow: then what is to be written waits
/// here, and what is too much is dropped and counted. Who listens does not wait for files.
package actor SoundRecorder {
    private struct SourceKey: Hashable {
        let tap: Int
        let number: UInt32
    }

    private struct Recording {
        let id: String
        let call: String
        let begin: Instant
        let files: any RecordingFiles
        let tell: @Sendable (RecordingEnd) -> Void
    }

    private struct HeardCall {
        var recording: Recording?
        var listener: (any SoundListener)?
        var sources: Set<SourceKey> = []
    }

    /// A file that is being written.
    private final class Track {
        let name: TrackName
        var voice: VoiceRecording
        /// Nil until there is something to write.
        var file: (any RecordingFile)?
        /// Something that was to be written is not in the file.
        var hasFailed = false

        init(_ name: TrackName, _ voice: VoiceRecording) {
            self.name = name
            self.voice = voice
        }
    }

    /// A recording to which nothing is added any more.
    private struct Ended {
        let recording: Recording
        let tracks: [Track]
        let at: Instant
    }

    private final class Source {
        let call: String
        let heard: HeardTrack
        var track: Track?
        var hasEnded = false
        /// When it had.
        var end: Instant?
        var begin: Instant { track?.voice.begin ?? .distantFuture }

        init(_ call: String, _ heard: HeardTrack) {
            self.call = call
            self.heard = heard
        }
    }

    private static let interval = Duration.milliseconds(50)
    /// What may wait for a file: minutes of a voice.
    private static let mostWaiting = 1024 * 1024

    private let taps: [SoundTap]
    private let clock: @Sendable () -> Instant
    private var spare = TappedBatch()
    private var calls: [String: HeardCall] = [:]
    private var sources: [SourceKey: Source] = [:]
    private var lastNumber: UInt64 = 0
    /// Recordings whose files are to be whole.
    private var ending: [Ended] = []
    /// How many of a call are not, and who waits for them.
    private var unfinished: [String: Int] = [:]
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
    /// Why those of them that wait are not whole, by their ids.
    private var failures: [String: String] = [:]
    private var hearing: Task<Void, Never>?
    private var writing: Task<Void, Never>?
    private var random = SystemRandomNumberGenerator()
    /// Packets that were dropped because files are slow.
    package private(set) var droppedCount = 0

    /// - Parameter taps: of a gateway's threads.
    package init(_ taps: [SoundTap], clock: @escaping @Sendable () -> Instant) {
        self.taps = taps
        self.clock = clock
    }

    /// How many tracks are being written.
    package var trackCount: Int { sources.values.count { $0.track != nil } }

    /// Takes what comes of the call from now on. It is to be tapped afterwards.
    ///
    /// - Parameter tell: that the recording has ended, whyever. Called from here: it must be brief.
    package func begin(
        _ recording: String, of call: String, into files: any RecordingFiles,
        tell: @escaping @Sendable (RecordingEnd) -> Void
    ) {
        guard calls[call]?.recording == nil else { return }
        calls[call, default: HeardCall()].recording = Recording(
            id: recording, call: call, begin: clock(), files: files, tell: tell)
        hear()
        if writing == nil { writing = Task { await write() } }
    }

    /// Ends the recording of a call, and returns when its files are whole.
    package func end(_ call: String) async {
        endWithoutWaiting(call)
        guard unfinished[call] != nil else { return }
        await withCheckedContinuation { waiting[call, default: []].append($0) }
    }

    /// Ends the recording of a call; that its files are whole is told as the end of it always is.
    package func endWithoutWaiting(_ call: String) {
        drain()
        guard let ended = detach(call, at: clock()) else { return }
        ending.append(ended)
    }

    /// Has somebody hear what comes of the call from now on. It is to be tapped afterwards.
    package func listen(to call: String, _ listener: any SoundListener) {
        calls[call, default: HeardCall()].listener = listener
        hear()
    }

    /// Nobody listens to the call any more.
    package func unlisten(to call: String) {
        calls[call]?.listener = nil
        forget(call)
    }

    /// Ends all of it.
    package func stop() async {
        for call in Array(calls.keys) {
            unlisten(to: call)
            await end(call)
        }
        await hearing?.value
        await writing?.value
    }

    private func hear() {
        guard hearing == nil else { return }
        hearing = Task {
            while !calls.isEmpty {
                drain()
                try? await Task.sleep(for: Self.interval)
            }
            hearing = nil
        }
    }

    private func write() async {
        while calls.values.contains(where: { $0.recording != nil }) || !ending.isEmpty {
            await turn()
            try? await Task.sleep(for: Self.interval)
        }
        writing = nil
    }

    /// Only this ends what there is of recordings. While it waits for a file others may begin, or ask for an end.
    private func turn() async {
        let ending = ending
        self.ending = []
        drain()
        // Files are made in the order in which their tracks were first heard.
        let order = sources.filter { $0.value.track != nil }
            .sorted { ($0.value.begin, $0.key.number) < ($1.value.begin, $1.key.number) }
        for (key, source) in order { await advance(source, key) }
        for ended in ending { await finish(ended, failure: nil) }
    }

    // MARK: What is heard

    private func drain() {
        for index in taps.indices { drain(index) }
    }

    private func drain(_ index: Int) {
        // Handed over, not shared: its memory is to be used again.
        var empty = TappedBatch()
        swap(&empty, &spare)
        let batch = taps[index].take(leaving: empty)
        for entry in batch.entries {
            switch entry {
            case .began(let source):
                guard calls[source.call] != nil else { continue }
                let key = SourceKey(tap: index, number: source.number)
                calls[source.call]?.sources.insert(key)
                lastNumber &+= 1
                sources[key] = Source(source.call, HeardTrack(number: lastNumber, name: source.track))
            case .packet(let packet, let range):
                take(
                    SoundPacket(
                        sequence: packet.sequence, timestamp: packet.timestamp, arrival: packet.arrival,
                        payload: batch.payload(range)),
                    of: SourceKey(tap: index, number: packet.source))
            case .ended(let number):
                end(SourceKey(tap: index, number: number))
            }
        }
        spare = batch
    }

    private func take(_ packet: SoundPacket, of key: SourceKey) {
        guard let source = sources[key], let call = calls[source.call] else { return }
        call.listener?.heard(packet, on: source.heard)
        guard call.recording != nil else { return }
        guard let track = source.track else {
            let name = source.heard.name
            let tags = OpusTags(vendor: "Switchboard", comments: ["TITLE=\(name.source.rawValue)"])
            source.track = Track(name, VoiceRecording(packet, serial: random.next(), tags: tags))
            return
        }
        guard track.voice.waitingByteCount < Self.mostWaiting else {
            droppedCount &+= 1
            return
        }
        track.voice.take(packet)
    }

    private func end(_ key: SourceKey) {
        guard let source = sources[key], !source.hasEnded else { return }
        source.hasEnded = true
        source.end = clock()
        calls[source.call]?.listener?.ended(source.heard)
        if source.track == nil { remove(source, key) }
    }

    private func remove(_ source: Source, _ key: SourceKey) {
        guard sources[key] === source else { return }
        sources[key] = nil
        calls[source.call]?.sources.remove(key)
    }

    /// Of a call of which nobody wants anything.
    private func forget(_ call: String) {
        guard let heard = calls[call], heard.recording == nil, heard.listener == nil else { return }
        for key in heard.sources { sources[key] = nil }
        calls[call] = nil
    }

    // MARK: What is written

    /// Writes what is due; the recording fails where that fails.
    private func advance(_ source: Source, _ key: SourceKey) async {
        guard let recording = calls[source.call]?.recording, let track = source.track else { return }
        do {
            if source.hasEnded {
                source.track = nil
                remove(source, key)
                try await finish(track, recording, at: source.end ?? clock())
            } else {
                track.voice.advance(to: clock())
                try await write(track, recording)
            }
        } catch {
            // Where it has ended meanwhile, its end says what comes of it.
            guard calls[source.call]?.recording?.id == recording.id else { return failed(recording, error) }
            guard let ended = detach(source.call, at: clock()) else { return }
            await finish(ended, failure: "\(error)")
        }
    }

    private func write(_ track: Track, _ recording: Recording) async throws {
        let pages = track.voice.takePages()
        guard !pages.isEmpty else { return }
        if track.file == nil {
            track.file = try await recording.files.make(
                RecordedTrack(
                    recording: recording.id, call: recording.call, track: track.name,
                    offset: track.voice.begin.nanoseconds(since: recording.begin) / 1_000_000))
        }
        do {
            try await track.file?.append(pages)
        } catch {
            track.hasFailed = true
            throw error
        }
    }

    private func finish(_ track: Track, _ recording: Recording, at end: Instant) async throws {
        track.voice.finish(at: end)
        do {
            try await write(track, recording)
        } catch {
            try? await track.file?.finish(duration: nil)
            throw error
        }
        try await track.file?.finish(duration: track.hasFailed ? nil : track.voice.sampleCount / 48)
    }

    /// Nothing is added to the recording from now on; another one may begin.
    private func detach(_ call: String, at end: Instant) -> Ended? {
        guard let heard = calls[call], let recording = heard.recording else { return nil }
        calls[call]?.recording = nil
        let tracks = heard.sources.compactMap { key -> Track? in
            guard let source = sources[key], let track = source.track else { return nil }
            source.track = nil
            if source.hasEnded { remove(source, key) }
            return track
        }
        forget(call)
        unfinished[call, default: 0] += 1
        return Ended(recording: recording, tracks: tracks, at: end)
    }

    /// Files are whole one after the other; whatever that takes, each lasts until the recording was ended.
    private func finish(_ ended: Ended, failure: String?) async {
        let recording = ended.recording
        var failure = failure ?? failures.removeValue(forKey: recording.id)
        for track in ended.tracks {
            do { try await finish(track, recording, at: ended.at) } catch { failure = failure ?? "\(error)" }
        }
        recording.tell(
            RecordingEnd(
                recording: recording.id, call: recording.call, failure: failure,
                duration: ended.at.nanoseconds(since: recording.begin) / 1_000_000))
        guard unfinished[recording.call] == 1 else {
            unfinished[recording.call, default: 1] -= 1
            return
        }
        unfinished[recording.call] = nil
        for continuation in waiting.removeValue(forKey: recording.call) ?? [] { continuation.resume() }
    }

    private func failed(_ recording: Recording, _ error: any Error) {
        failures[recording.id] = failures[recording.id] ?? "\(error)"
    }
}
