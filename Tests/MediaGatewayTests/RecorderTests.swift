import Containers
import Gateway
import MediaGateway
import RTP
import Synchronization
import TestSupport
import Testing
import Wire

/// Recordings from taps, with files in memory and a clock that the test moves.
@Suite("Recorder")
struct RecorderTests {
    private final class Disk: RecordingFiles {
        struct Stored {
            let track: RecordedTrack
            var bytes: [UInt8] = []
            var duration: UInt64?
            var isFinished = false
        }

        struct Full: Error, CustomStringConvertible {
            let description = "There is no room."
        }

        struct File: RecordingFile {
            let disk: Disk
            let index: Int

            func append(_ bytes: [UInt8]) async throws {
                await disk.whileAppending.withLock { $0 }()
                try disk.change(by: bytes.count) { $0[index].bytes += bytes }
            }
            func finish(duration: UInt64?) async throws {
                disk.whileFinishing.withLock { $0 }()
                try disk.change { files in
                    files[index].duration = duration
                    files[index].isFinished = true
                }
            }
        }

        private let state = Mutex((files: [Stored](), space: Int.max))
        /// Happens before something is in a file.
        let whileAppending = Mutex<@Sendable () async -> Void>({})
        /// Happens before a file is whole.
        let whileFinishing = Mutex<@Sendable () -> Void>({})

        var files: [Stored] { state.withLock { $0.files } }

        init(space: Int = .max) { state.withLock { $0.space = space } }

        func make(_ track: RecordedTrack) async throws -> any RecordingFile {
            File(
                disk: self,
                index: state.withLock { state in
                    state.files.append(Stored(track: track))
                    return state.files.count - 1
                })
        }

        func change(by byteCount: Int = 0, _ body: (inout [Stored]) -> Void) throws {
            try state.withLock { state in
                guard state.space >= byteCount else { throw Full() }
                state.space -= byteCount
                body(&state.files)
            }
        }
    }

    /// Records what it receives.
    private final class Listener: AudioSink {
        private let state = Mutex((packets: [(name: String, sequence: UInt16)](), ended: [String]()))

        var packets: [(name: String, sequence: UInt16)] { state.withLock { $0.packets } }
        var ended: [String] { state.withLock { $0.ended } }

        func receive(_ packet: AudioPacket, on track: TappedTrack) {
            state.withLock { $0.packets.append((track.name.participant, packet.sequence)) }
        }
        func ended(_ track: TappedTrack) {
            state.withLock { $0.ended.append(track.name.participant) }
        }
    }

    /// A call whose audio is put into taps by hand.
    private final class RecorderHarness: Sendable {
        let taps = [AudioTap(byteLimit: 100_000), AudioTap(byteLimit: 100_000)]
        let disk: Disk
        let recorder: AudioRecorder
        private let ends = Shared<[RecordingEnd]>([])
        private let clock = ManualClock(Instant(nanoseconds: 1_000_000_000))

        init(_ disk: Disk = Disk()) {
            self.disk = disk
            recorder = AudioRecorder(taps, clock: { [clock] in clock.now })
        }

        func begin(_ recording: String = "recording", of call: String = "call", into other: Disk? = nil) async {
            await recorder.begin(recording, of: call, into: other ?? disk) { [ends] end in
                ends.update { $0.append(end) }
            }
        }

        var recorded: [RecordingEnd] { ends.value }
        var now: Instant { clock.now }

        func pass(milliseconds: UInt64) {
            clock.advance(milliseconds: milliseconds)
        }

        func startTrack(
            _ name: String, _ number: UInt32, call: String = "call", tap: Int = 0, isStereo: Bool = false
        ) {
            let track = TrackName(participant: name, mid: "0", source: .microphone)
            taps[tap].append(.began(TappedSource(number: number, call: call, track: track, isStereo: isStereo)))
        }

        /// A packet of 20 ms, with its index.
        func sendAudio(_ number: UInt32, _ index: Int, tap: Int = 0) {
            let payload: [UInt8] = [0x78, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: index)]
            taps[tap].copy(
                TappedPacket(
                    source: number, sequence: UInt16(truncatingIfNeeded: index), timestamp: UInt32(index) * 960,
                    arrival: now), payload.span.bytes)
        }
    }

    private func track(_ file: Disk.Stored) throws -> OpusTrack {
        try OpusFile.read(file.bytes.span.bytes, limit: OpusLimit(seconds: 600))
    }

    @Test("each track is a file with its start time", .timeLimit(.minutes(1)))
    func tracks() async throws {
        let harness = RecorderHarness()
        await harness.begin("recording", of: "call")
        harness.startTrack("ann", 7)
        harness.startTrack("cleo", 9, call: "another")
        for index in 0..<100 {
            harness.sendAudio(7, index)
            harness.sendAudio(9, index)
            if index == 50 { harness.startTrack("ben", 7, tap: 1) }
            if index >= 50 { harness.sendAudio(7, index, tap: 1) }
            harness.pass(milliseconds: 20)
        }
        try await eventually { await harness.recorder.trackCount == 2 }
        await harness.recorder.end("call")
        let files = harness.disk.files
        #expect(files.map(\.track.track.participant) == ["ann", "ben"])
        #expect(files.map(\.track.offset) == [0, 1_000])
        #expect(files.map(\.duration) == [2_000, 1_000])
        #expect(files.allSatisfy { $0.track.recording == "recording" && $0.track.call == "call" })
        for file in files {
            let track = try track(file)
            #expect(!track.isTruncated && track.sampleCount == (file.duration ?? 0) * 48)
        }
        #expect(harness.recorded == [RecordingEnd(recording: "recording", call: "call", failure: nil, duration: 2_000)])
        // Another one of the same call begins anew.
        await harness.begin("second", of: "call")
        harness.startTrack("ann", 8)
        harness.sendAudio(8, 0)
        try await eventually { await harness.recorder.trackCount == 1 }
        await harness.recorder.stop()
        #expect(harness.disk.files.last?.track.recording == "second")
        #expect(await harness.recorder.trackCount == 0)
    }

    @Test("a track in which two channels may come has them in its file", .timeLimit(.minutes(1)))
    func channels() async throws {
        let harness = RecorderHarness()
        await harness.begin("recording", of: "call")
        harness.startTrack("ann", 7)
        harness.startTrack("ben", 8, isStereo: true)
        for index in 0..<10 {
            // Of one channel.
            harness.sendAudio(7, index)
            harness.sendAudio(8, index)
            harness.pass(milliseconds: 20)
        }
        try await eventually { await harness.recorder.trackCount == 2 }
        await harness.recorder.end("call")
        let channels = try harness.disk.files.map { ($0.track.track.participant, try track($0).head.channelCount) }
        #expect(Dictionary(channels) { $1 } == ["ann": 1, "ben": 2])
    }

    @Test("a leaving participant ends a file, and the others continue", .timeLimit(.minutes(1)))
    func leaving() async throws {
        let harness = RecorderHarness()
        await harness.begin("recording", of: "call")
        harness.startTrack("ann", 7)
        harness.startTrack("ben", 8)
        for index in 0..<10 {
            harness.sendAudio(7, index)
            harness.sendAudio(8, index)
            harness.pass(milliseconds: 20)
        }
        harness.taps[0].append(.ended(source: 7))
        try await eventually { harness.disk.files.contains { $0.duration != nil } }
        harness.pass(milliseconds: 800)
        await harness.recorder.end("call")
        let durations = Dictionary(
            uniqueKeysWithValues: harness.disk.files.map { ($0.track.track.participant, $0.duration) })
        #expect(durations == ["ann": 200, "ben": 1_000])
    }

    @Test("a recording ends when it was ended, not when its files are complete", .timeLimit(.minutes(1)))
    func slowDisk() async throws {
        let harness = RecorderHarness()
        await harness.begin()
        for number in 0..<4 as Range<UInt32> {
            harness.startTrack("\(number)", number)
            for index in 0..<10 { harness.sendAudio(number, index) }
        }
        harness.pass(milliseconds: 300)
        harness.disk.whileFinishing.withLock { $0 = { harness.pass(milliseconds: 500) } }
        await harness.recorder.end("call")
        #expect(harness.disk.files.map(\.duration) == [300, 300, 300, 300])
        #expect(harness.recorded.map(\.duration) == [300])
    }

    @Test("a sink receives packets while the disk is stalled, and only those of its call", .timeLimit(.minutes(1)))
    func listening() async throws {
        let harness = RecorderHarness()
        let listener = Listener()
        let (stuck, free) = AsyncStream.makeStream(of: Void.self)
        harness.disk.whileAppending.withLock { $0 = { for await _ in stuck {} } }
        await harness.begin()
        await harness.recorder.listen(to: "call", listener)
        harness.startTrack("ann", 7)
        harness.startTrack("cleo", 9, call: "another")
        for index in 0..<100 {
            harness.sendAudio(7, index)
            harness.sendAudio(9, index)
            harness.pass(milliseconds: 20)
        }
        // A file is made, and what is to be in it waits.
        try await eventually { !harness.disk.files.isEmpty && listener.packets.count == 100 }
        for index in 100..<200 {
            harness.sendAudio(7, index)
            harness.pass(milliseconds: 20)
        }
        try await eventually { listener.packets.count == 200 }
        #expect(listener.packets.allSatisfy { $0.name == "ann" })
        #expect(listener.packets.map(\.sequence) == Array(0..<200))
        #expect(harness.disk.files.first?.bytes == [] && harness.taps[0].droppedCount == 0)
        free.finish()
        await harness.recorder.end("call")
        #expect(harness.disk.files.map(\.duration) == [4_000], "Nothing is missing.")

        // The recording is over, and who listens goes on; another recording is one of its own.
        harness.sendAudio(7, 200)
        try await eventually { listener.packets.count == 201 }
        await harness.begin("second")
        harness.sendAudio(7, 201)
        try await eventually { await harness.recorder.trackCount == 1 }
        await harness.recorder.stopListening(to: "call")
        harness.sendAudio(7, 202)
        harness.pass(milliseconds: 100)
        await harness.recorder.end("call")
        #expect(listener.packets.count == 202 && listener.ended.isEmpty)
        #expect(harness.disk.files.map(\.track.recording) == ["recording", "second"])
        #expect(await harness.recorder.droppedCount == 0)
    }

    @Test("a recording ends at once, and the next one does not wait for its files", .timeLimit(.minutes(1)))
    func endedAtOnce() async throws {
        let harness = RecorderHarness()
        let (stuck, free) = AsyncStream.makeStream(of: Void.self)
        harness.disk.whileAppending.withLock { $0 = { for await _ in stuck {} } }
        await harness.begin("first")
        harness.startTrack("ann", 7)
        for index in 0..<50 {
            harness.sendAudio(7, index)
            harness.pass(milliseconds: 20)
        }
        try await eventually { !harness.disk.files.isEmpty }
        await harness.recorder.endWithoutWaiting("call")
        // Nothing of this is in the first.
        await harness.begin("second")
        harness.startTrack("ann", 8)
        for index in 50..<100 {
            harness.sendAudio(8, index)
            harness.pass(milliseconds: 20)
        }
        #expect(harness.recorded.isEmpty)
        async let whole: Void = harness.recorder.end("call")
        free.finish()
        await whole
        #expect(harness.recorded.map(\.recording) == ["first", "second"])
        #expect(harness.recorded.map(\.duration) == [1_000, 1_000])
        #expect(harness.disk.files.map(\.track.recording) == ["first", "second"])
        #expect(harness.disk.files.map(\.duration) == [1_000, 1_000])
    }

    @Test("what waits for a file is bounded, and what is too much is dropped and counted", .timeLimit(.minutes(1)))
    func waiting() async throws {
        let harness = RecorderHarness()
        let listener = Listener()
        let (stuck, free) = AsyncStream.makeStream(of: Void.self)
        harness.disk.whileAppending.withLock { $0 = { for await _ in stuck {} } }
        await harness.begin()
        await harness.recorder.listen(to: "call", listener)
        harness.startTrack("ann", 7)
        let payload = [0x78] + [UInt8](repeating: 1, count: 1_200)
        for index in 0..<1_500 {
            harness.taps[0].copy(
                TappedPacket(
                    source: 7, sequence: UInt16(index), timestamp: UInt32(index) * 960, arrival: harness.now),
                payload.span.bytes)
            harness.pass(milliseconds: 20)
            if index % 50 == 49 { try await eventually { listener.packets.count == index + 1 } }
        }
        let dropped = await harness.recorder.droppedCount
        #expect(dropped > 300 && dropped < 1_000)
        free.finish()
        await harness.recorder.end("call")
        #expect(harness.disk.files.map(\.duration) == [30_000], "It is as long as it was.")
    }

    @Test("pages are on the disk while it goes on", .timeLimit(.minutes(1)))
    func pages() async throws {
        let harness = RecorderHarness()
        await harness.begin("recording", of: "call")
        harness.startTrack("ann", 7)
        for index in 0..<200 {
            harness.sendAudio(7, index)
            harness.pass(milliseconds: 20)
        }
        // The last second may be missing, and no more.
        try await eventually {
            guard let file = harness.disk.files.first, let track = try? track(file) else { return false }
            return track.isTruncated && track.sampleCount >= 3 * 48_000
        }
        await harness.recorder.stop()
    }

    @Test("a disk that is full ends the recording and says why", .timeLimit(.minutes(1)))
    func full() async throws {
        let harness = RecorderHarness(Disk(space: 600))
        await harness.begin("recording", of: "call")
        await harness.begin("other", of: "another")
        harness.startTrack("ann", 7)
        for index in 0..<400 {
            harness.sendAudio(7, index)
            harness.pass(milliseconds: 20)
        }
        try await eventually { !harness.recorded.isEmpty }
        #expect(harness.recorded.map(\.recording) == ["recording"])
        #expect(harness.recorded.first?.failure == "There is no room.")
        #expect(harness.disk.files.map(\.isFinished) == [true] && harness.disk.files.first?.duration == nil)
        await harness.recorder.end("call")
        await harness.recorder.end("another")
        #expect(harness.recorded.map(\.recording) == ["recording", "other"])
    }

    @Test("each recording goes into the files that it was begun with", .timeLimit(.minutes(1)))
    func ownFiles() async throws {
        let (harness, other) = (RecorderHarness(), Disk(space: 0))
        await harness.begin()
        await harness.begin("another", of: "other call", into: other)
        harness.startTrack("ann", 7)
        harness.startTrack("ben", 8, call: "other call")
        for index in 0..<100 {
            harness.sendAudio(7, index)
            harness.sendAudio(8, index)
            harness.pass(milliseconds: 20)
        }
        // That one disk is full does not affect the other.
        try await eventually { harness.recorded.map(\.recording) == ["another"] }
        await harness.recorder.end("call")
        #expect(
            harness.disk.files.map(\.track.track.participant) == ["ann"] && harness.disk.files.first?.duration == 2_000)
        #expect(other.files.map(\.track.track.participant) == ["ben"] && other.files.first?.bytes == [])
    }

    @Test("a full tap drops packets and counts them")
    func overflow() {
        let tap = AudioTap(byteLimit: 10_000)
        tap.append(
            .began(
                TappedSource(
                    number: 1, call: "call", track: TrackName(participant: "ann", mid: "0", source: .microphone))))
        let payload = [UInt8](repeating: 0x78, count: 100)
        for index in 0..<1_000 {
            tap.copy(
                TappedPacket(
                    source: 1, sequence: UInt16(index), timestamp: 0, arrival: Instant(nanoseconds: 1)),
                payload.span.bytes)
        }
        #expect(tap.waitingByteCount <= 10_000)
        let batch = tap.take(leaving: TappedBatch())
        #expect(tap.droppedCount == UInt64(1_001 - batch.entries.count) && tap.waitingByteCount == 0)
        #expect(batch.entries.count > 50)
        for case .packet(_, let range) in batch.entries { #expect(batch.payload(range) == payload) }
    }
}
