import Containers
package import Gateway
import RTP
package import Wire

/// Writes what is said in calls to files, a file for each track, beside the threads that forward it.
///
/// It takes from the taps what has come, twenty times a second. Its files may be slow: then the taps fill, drop what does
/// not fit and count it, and nothing else happens.
package actor SoundRecorder {
    private struct SourceKey: Hashable {
        let tap: Int
        let number: UInt32
    }

    private struct Recording {
        let id: String
        let begin: Instant
        let files: any RecordingFiles
        let tell: @Sendable (RecordingEnd) -> Void
        var sources: Set<SourceKey> = []
    }

    private final class Source {
        let call: String
        let track: TrackName
        /// Nil until its first packet.
        var voice: VoiceRecording?
        var file: (any RecordingFile)?
        var hasEnded = false
        var begin: Instant { voice?.begin ?? .distantFuture }
        /// Something that was to be written is not in the file.
        var hasFailed = false

        init(_ source: TappedSource) {
            call = source.call
            track = source.track
        }
    }

    private static let interval = Duration.milliseconds(50)

    private let taps: [SoundTap]
    private let clock: @Sendable () -> Instant
    private var spare = TappedBatch()
    private var recordings: [String: Recording] = [:]
    private var sources: [SourceKey: Source] = [:]
    /// Calls whose recordings are to end, and who waits for that.
    private var ending: [(call: String, done: CheckedContinuation<Void, Never>)] = []
    private var loop: Task<Void, Never>?
    private var random = SystemRandomNumberGenerator()

    /// - Parameter taps: of a gateway's threads.
    package init(_ taps: [SoundTap], clock: @escaping @Sendable () -> Instant) {
        self.taps = taps
        self.clock = clock
    }

    /// How many tracks are being written.
    package var trackCount: Int { sources.values.count { $0.voice != nil } }

    /// Takes what comes of the call from now on. It is to be tapped afterwards.
    ///
    /// - Parameter tell: that the recording has ended, whyever. Called from here: it must be brief.
    package func begin(
        _ recording: String, of call: String, into files: any RecordingFiles,
        tell: @escaping @Sendable (RecordingEnd) -> Void
    ) {
        guard recordings[call] == nil else { return }
        recordings[call] = Recording(id: recording, begin: clock(), files: files, tell: tell)
        if loop == nil { loop = Task { await run() } }
    }

    /// Ends the recording of a call, of which nothing more is tapped, and returns when its files are whole.
    package func end(_ call: String) async {
        guard recordings[call] != nil else { return }
        await withCheckedContinuation { ending.append((call, $0)) }
    }

    /// Ends all of them.
    package func stop() async {
        for call in recordings.keys { await end(call) }
        await loop?.value
    }

    private func run() async {
        while !recordings.isEmpty || !ending.isEmpty {
            await turn()
            try? await Task.sleep(for: Self.interval)
        }
        loop = nil
    }

    /// Only this changes what there is of recordings. While it waits for a file others may begin, or ask for an end.
    private func turn() async {
        let ending = ending
        self.ending = []
        for index in taps.indices { drain(index) }
        // Files are made in the order in which their tracks were first heard.
        let order = sources.sorted { ($0.value.begin, $0.key.number) < ($1.value.begin, $1.key.number) }
        for (key, source) in order { await advance(source, key) }
        for (call, done) in ending {
            await finish(call, failure: nil)
            done.resume()
        }
    }

    private func drain(_ index: Int) {
        // Handed over, not shared: its memory is to be used again.
        var empty = TappedBatch()
        swap(&empty, &spare)
        let batch = taps[index].take(leaving: empty)
        for entry in batch.entries {
            switch entry {
            case .began(let source):
                guard recordings[source.call] != nil else { continue }
                let key = SourceKey(tap: index, number: source.number)
                recordings[source.call]?.sources.insert(key)
                sources[key] = Source(source)
            case .packet(let packet, let range):
                take(
                    SoundPacket(
                        sequence: packet.sequence, timestamp: packet.timestamp, arrival: packet.arrival,
                        payload: batch.payload(range)),
                    of: SourceKey(tap: index, number: packet.source))
            case .ended(let number):
                sources[SourceKey(tap: index, number: number)]?.hasEnded = true
            }
        }
        spare = batch
    }

    private func take(_ packet: SoundPacket, of key: SourceKey) {
        guard let source = sources[key] else { return }
        if source.voice == nil {
            let tags = OpusTags(vendor: "Switchboard", comments: ["TITLE=\(source.track.source.rawValue)"])
            source.voice = VoiceRecording(packet, serial: random.next(), tags: tags)
        } else {
            source.voice?.take(packet)
        }
    }

    /// Writes what is due; the recording fails where that fails.
    private func advance(_ source: Source, _ key: SourceKey) async {
        guard sources[key] === source else { return }
        do {
            if source.hasEnded {
                try await finish(source, key)
            } else {
                source.voice?.advance(to: clock())
                try await write(source)
            }
        } catch {
            await finish(source.call, failure: "\(error)")
        }
    }

    private func write(_ source: Source) async throws {
        guard let recording = recordings[source.call], let begin = source.voice?.begin,
            let pages = source.voice?.takePages(), !pages.isEmpty
        else { return }
        if source.file == nil {
            source.file = try await recording.files.make(
                RecordedTrack(
                    recording: recording.id, call: source.call, track: source.track,
                    offset: begin.nanoseconds(since: recording.begin) / 1_000_000))
        }
        do {
            try await source.file?.append(pages)
        } catch {
            source.hasFailed = true
            throw error
        }
    }

    private func finish(_ source: Source, _ key: SourceKey) async throws {
        sources[key] = nil
        recordings[source.call]?.sources.remove(key)
        source.voice?.finish(at: clock())
        do {
            try await write(source)
        } catch {
            try? await source.file?.finish(duration: nil)
            throw error
        }
        let isWhole = !source.hasFailed
        try await source.file?.finish(duration: isWhole ? (source.voice?.sampleCount ?? 0) / 48 : nil)
    }

    private func finish(_ call: String, failure: String?) async {
        guard let recording = recordings[call] else { return }
        var failure = failure
        for key in recording.sources {
            guard let source = sources[key] else { continue }
            do { try await finish(source, key) } catch { failure = failure ?? "\(error)" }
        }
        recordings[call] = nil
        recording.tell(
            RecordingEnd(
                recording: recording.id, call: call, failure: failure,
                duration: clock().nanoseconds(since: recording.begin) / 1_000_000))
    }
}
