import Containers
import Gateway
import RTP
package import Wire

/// Receives the audio of tapped calls, separately from the forwarding threads: writes each track to a file, and passes
/// the packets to sinks.
///
/// It drains the taps twenty times a second. Files may be slow: then packets wait here, and beyond a limit they are
/// dropped and counted. Sinks do not wait for files.
package actor AudioRecorder {
    private struct SourceKey: Hashable {
        let tap: Int
        let number: UInt32
    }

    private struct Recording {
        let id: String
        let call: String
        let begin: Instant
        let files: any RecordingFiles
        let onEnd: @Sendable (RecordingEnd) -> Void
    }

    private struct TappedCall {
        var recording: Recording?
        var listener: (any AudioSink)?
        var sources: Set<SourceKey> = []
    }

    /// A file that is being written.
    private final class Track {
        let name: TrackName
        var voice: OpusRecording
        /// Nil until there is something to write.
        var file: (any RecordingFile)?
        /// A write failed, so the file is incomplete.
        var hasFailed = false

        init(_ name: TrackName, _ voice: OpusRecording) {
            self.name = name
            self.voice = voice
        }
    }

    /// A recording that has ended, but whose files are not complete yet.
    private struct Ended {
        let recording: Recording
        let tracks: [Track]
        let at: Instant
    }

    private final class Source {
        let call: String
        let tapped: TappedTrack
        /// Packets with two channels may come.
        let isStereo: Bool
        var track: Track?
        var hasEnded = false
        /// When it ended.
        var end: Instant?
        var begin: Instant { track?.voice.begin ?? .distantFuture }

        init(_ call: String, _ tapped: TappedTrack, isStereo: Bool) {
            self.call = call
            self.tapped = tapped
            self.isStereo = isStereo
        }
    }

    private static let interval = Duration.milliseconds(50)
    /// How much may wait for a file: minutes of audio.
    private static let maxWaitingByteCount = 1024 * 1024

    private let taps: [AudioTap]
    private let clock: @Sendable () -> Instant
    private var spare = TappedBatch()
    private var calls: [String: TappedCall] = [:]
    private var sources: [SourceKey: Source] = [:]
    private var lastNumber: UInt64 = 0
    /// Recordings whose files are to be completed.
    private var ending: [Ended] = []
    /// The number of incomplete recordings of each call, and the callers that wait for them.
    private var unfinished: [String: Int] = [:]
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
    /// Errors of incomplete recordings, by id.
    private var failures: [String: String] = [:]
    private var drainTask: Task<Void, Never>?
    private var writeTask: Task<Void, Never>?
    private var random = SystemRandomNumberGenerator()
    /// Packets that were dropped because files are slow.
    package private(set) var droppedCount = 0

    /// - Parameter taps: those of the gateway's threads.
    package init(_ taps: [AudioTap], clock: @escaping @Sendable () -> Instant) {
        self.taps = taps
        self.clock = clock
    }

    /// How many tracks are being written.
    package var trackCount: Int { sources.values.count { $0.track != nil } }

    /// Begins to record a call. Start the tap afterwards.
    ///
    /// - Parameters:
    ///   - recording: its id.
    ///   - call: the call whose tapped audio is recorded.
    ///   - files: makes the file of each track.
    ///   - onEnd: called when the recording has ended, for any reason. It must be brief.
    package func begin(
        _ recording: String, of call: String, into files: any RecordingFiles,
        onEnd: @escaping @Sendable (RecordingEnd) -> Void
    ) {
        guard calls[call]?.recording == nil else { return }
        calls[call, default: TappedCall()].recording = Recording(
            id: recording, call: call, begin: clock(), files: files, onEnd: onEnd)
        startDraining()
        if writeTask == nil { writeTask = Task { await write() } }
    }

    /// Ends the recording of a call, and returns when its files are complete.
    package func end(_ call: String) async {
        endWithoutWaiting(call)
        guard unfinished[call] != nil else { return }
        await withCheckedContinuation { waiting[call, default: []].append($0) }
    }

    /// Ends the recording of a call; `onEnd` is called when its files are complete.
    package func endWithoutWaiting(_ call: String) {
        drain()
        guard let ended = detach(call, at: clock()) else { return }
        ending.append(ended)
    }

    /// Passes the packets of a call to a sink from now on. Start the tap afterwards.
    package func listen(to call: String, _ listener: any AudioSink) {
        calls[call, default: TappedCall()].listener = listener
        startDraining()
    }

    /// Removes the sink of a call.
    package func stopListening(to call: String) {
        calls[call]?.listener = nil
        removeIfUnused(call)
    }

    /// Ends all recordings and removes all sinks.
    package func stop() async {
        for call in Array(calls.keys) {
            stopListening(to: call)
            await end(call)
        }
        await drainTask?.value
        await writeTask?.value
    }

    private func startDraining() {
        guard drainTask == nil else { return }
        drainTask = Task {
            while !calls.isEmpty {
                drain()
                try? await Task.sleep(for: Self.interval)
            }
            drainTask = nil
        }
    }

    private func write() async {
        while calls.values.contains(where: { $0.recording != nil }) || !ending.isEmpty {
            await turn()
            try? await Task.sleep(for: Self.interval)
        }
        writeTask = nil
    }

    /// The only place that writes and completes files. While it waits for a file, recordings may begin or end.
    private func turn() async {
        let ending = ending
        self.ending = []
        drain()
        // Files are made in the order of their tracks' first packets.
        let order = sources.filter { $0.value.track != nil }
            .sorted { ($0.value.begin, $0.key.number) < ($1.value.begin, $1.key.number) }
        for (key, source) in order { await advance(source, key) }
        for ended in ending { await finish(ended, failure: nil) }
    }

    // MARK: Receiving

    private func drain() {
        for index in taps.indices { drain(index) }
    }

    private func drain(_ index: Int) {
        // Moved, not shared, so that its memory is reused.
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
                sources[key] = Source(
                    source.call, TappedTrack(number: lastNumber, name: source.track), isStereo: source.isStereo)
            case .packet(let packet, let range):
                take(
                    AudioPacket(
                        sequence: packet.sequence, timestamp: packet.timestamp, arrival: packet.arrival,
                        payload: batch.payload(range)),
                    of: SourceKey(tap: index, number: packet.source))
            case .ended(let number):
                end(SourceKey(tap: index, number: number))
            }
        }
        spare = batch
    }

    private func take(_ packet: AudioPacket, of key: SourceKey) {
        guard let source = sources[key], let call = calls[source.call] else { return }
        call.listener?.receive(packet, on: source.tapped)
        guard call.recording != nil else { return }
        guard let track = source.track else {
            let name = source.tapped.name
            let tags = OpusTags(vendor: "Switchboard", comments: ["TITLE=\(name.source.rawValue)"])
            source.track = Track(
                name, OpusRecording(packet, serial: random.next(), tags: tags, isStereo: source.isStereo))
            return
        }
        guard track.voice.waitingByteCount < Self.maxWaitingByteCount else {
            droppedCount &+= 1
            return
        }
        track.voice.take(packet)
    }

    private func end(_ key: SourceKey) {
        guard let source = sources[key], !source.hasEnded else { return }
        source.hasEnded = true
        source.end = clock()
        calls[source.call]?.listener?.ended(source.tapped)
        if source.track == nil { remove(source, key) }
    }

    private func remove(_ source: Source, _ key: SourceKey) {
        guard sources[key] === source else { return }
        sources[key] = nil
        calls[source.call]?.sources.remove(key)
    }

    /// Removes a call with neither recording nor sink.
    private func removeIfUnused(_ call: String) {
        guard let tapped = calls[call], tapped.recording == nil, tapped.listener == nil else { return }
        for key in tapped.sources { sources[key] = nil }
        calls[call] = nil
    }

    // MARK: Writing

    /// Writes what is due; the recording fails if that fails.
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
            // If the recording has ended meanwhile, its end reports the error.
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

    /// Removes the call's recording, so that nothing is added to it; another one may begin.
    private func detach(_ call: String, at end: Instant) -> Ended? {
        guard let tapped = calls[call], let recording = tapped.recording else { return nil }
        calls[call]?.recording = nil
        let tracks = tapped.sources.compactMap { key -> Track? in
            guard let source = sources[key], let track = source.track else { return nil }
            source.track = nil
            if source.hasEnded { remove(source, key) }
            return track
        }
        removeIfUnused(call)
        unfinished[call, default: 0] += 1
        return Ended(recording: recording, tracks: tracks, at: end)
    }

    /// Completes the files one after the other; each lasts until the end of the recording, however long that takes.
    private func finish(_ ended: Ended, failure: String?) async {
        let recording = ended.recording
        var failure = failure ?? failures.removeValue(forKey: recording.id)
        for track in ended.tracks {
            do { try await finish(track, recording, at: ended.at) } catch { failure = failure ?? "\(error)" }
        }
        recording.onEnd(
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
