import Containers
import Gateway
import MediaGateway
import RTP
import Synchronization
import Testing
import Wire

/// Recordings of what comes out of taps, with files in memory and a clock that goes on when told.
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

        private let state = Mutex((files: [Stored](), room: Int.max))
        /// Happens before something is in a file.
        let whileAppending = Mutex<@Sendable () async -> Void>({})
        /// Happens before a file is whole.
        let whileFinishing = Mutex<@Sendable () -> Void>({})

        var files: [Stored] { state.withLock { $0.files } }

        init(room: Int = .max) { state.withLock { $0.room = room } }

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
                guard state.room >= byteCount else { throw Full() }
                state.room -= byteCount
                body(&state.files)
            }
        }
    }

    /// Remembers what it hears.
    private final class Listener: SoundListener {
        private let state = Mutex((packets: [(name: String, sequence: UInt16)](), ended: [String]()))

        var packets: [(name: String, sequence: UInt16)] { state.withLock { $0.packets } }
        var ended: [String] { state.withLock { $0.ended } }

        func heard(_ packet: SoundPacket, on track: HeardTrack) {
            state.withLock { $0.packets.append((track.name.participant, packet.sequence)) }
        }
        func ended(_ track: HeardTrack) {
            state.withLock { $0.ended.append(track.name.participant) }
        }
    }

    /// A call whose sound is put into taps by hand.
    private final class Room: Sendable {
        let taps = [SoundTap(byteLimit: 100_000), SoundTap(byteLimit: 100_000)]
        let disk: Disk
        let recorder: SoundRecorder
        private let ends: Ends
        private let time: Time

        final class Ends: Sendable {
            let all = Mutex<[RecordingEnd]>([])
        }
        final class Time: Sendable {
            let now = Mutex(Instant(nanoseconds: 1_000_000_000))
        }

        init(_ disk: Disk = Disk()) {
            self.disk = disk
            let (ends, time) = (Ends(), Time())
            (self.ends, self.time) = (ends, time)
            recorder = SoundRecorder(taps, clock: { time.now.withLock { $0 } })
        }

        func begin(_ recording: String = "recording", of call: String = "call", into other: Disk? = nil) async {
            await recorder.begin(recording, of: call, into: other ?? disk) { [ends] end in
                ends.all.withLock { $0.append(end) }
            }
        }

        var recorded: [RecordingEnd] { ends.all.withLock { $0 } }
        var now: Instant { time.now.withLock { $0 } }

        func pass(milliseconds: UInt64) {
            time.now.withLock { $0 = $0.adding(nanoseconds: milliseconds * 1_000_000) }
        }

        func come(_ name: String, _ number: UInt32, call: String = "call", tap: Int = 0) {
            let track = TrackName(participant: name, mid: "0", source: .microphone)
            taps[tap].note(.began(TappedSource(number: number, call: call, track: track)))
        }

        /// A packet of 20 ms, with the number of its place among them.
        func say(_ number: UInt32, _ place: Int, tap: Int = 0) {
            let payload: [UInt8] = [0x78, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: place)]
            taps[tap].copy(
                TappedPacket(
                    source: number, sequence: UInt16(truncatingIfNeeded: place), timestamp: UInt32(place) * 960,
                    arrival: now), payload.span.bytes)
        }

        /// Waits until it is so, for as long as the test may take.
        func wait(until isSo: () async -> Bool) async throws {
            while !(await isSo()) { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    private func track(_ file: Disk.Stored) throws -> OpusTrack {
        try OpusFile.read(file.bytes.span.bytes, limit: OpusLimit(seconds: 600))
    }

    @Test("each track is a file that says when it began", .timeLimit(.minutes(1)))
    func tracks() async throws {
        let room = Room()
        await room.begin("recording", of: "call")
        room.come("ann", 7)
        room.come("cleo", 9, call: "another")
        for place in 0..<100 {
            room.say(7, place)
            room.say(9, place)
            if place == 50 { room.come("ben", 7, tap: 1) }
            if place >= 50 { room.say(7, place, tap: 1) }
            room.pass(milliseconds: 20)
        }
        try await room.wait { await room.recorder.trackCount == 2 }
        await room.recorder.end("call")
        let files = room.disk.files
        #expect(files.map(\.track.track.participant) == ["ann", "ben"])
        #expect(files.map(\.track.offset) == [0, 1_000])
        #expect(files.map(\.duration) == [2_000, 1_000])
        #expect(files.allSatisfy { $0.track.recording == "recording" && $0.track.call == "call" })
        for file in files {
            let track = try track(file)
            #expect(!track.isCutOff && track.sampleCount == (file.duration ?? 0) * 48)
        }
        #expect(room.recorded == [RecordingEnd(recording: "recording", call: "call", failure: nil, duration: 2_000)])
        // Another one of the same call begins anew.
        await room.begin("second", of: "call")
        room.come("ann", 8)
        room.say(8, 0)
        try await room.wait { await room.recorder.trackCount == 1 }
        await room.recorder.stop()
        #expect(room.disk.files.last?.track.recording == "second")
        #expect(await room.recorder.trackCount == 0)
    }

    @Test("who leaves ends a file, and the others go on", .timeLimit(.minutes(1)))
    func leaving() async throws {
        let room = Room()
        await room.begin("recording", of: "call")
        room.come("ann", 7)
        room.come("ben", 8)
        for place in 0..<10 {
            room.say(7, place)
            room.say(8, place)
            room.pass(milliseconds: 20)
        }
        room.taps[0].note(.ended(source: 7))
        try await room.wait { room.disk.files.contains { $0.duration != nil } }
        room.pass(milliseconds: 800)
        await room.recorder.end("call")
        let durations = Dictionary(
            uniqueKeysWithValues: room.disk.files.map { ($0.track.track.participant, $0.duration) })
        #expect(durations == ["ann": 200, "ben": 1_000])
    }

    @Test("a recording is as long as it took, not as long as its files took to be whole", .timeLimit(.minutes(1)))
    func slowDisk() async throws {
        let room = Room()
        await room.begin()
        for number in 0..<4 as Range<UInt32> {
            room.come("\(number)", number)
            for place in 0..<10 { room.say(number, place) }
        }
        room.pass(milliseconds: 300)
        room.disk.whileFinishing.withLock { $0 = { room.pass(milliseconds: 500) } }
        await room.recorder.end("call")
        #expect(room.disk.files.map(\.duration) == [300, 300, 300, 300])
        #expect(room.recorded.map(\.duration) == [300])
    }

    @Test("who listens hears what comes while the disk does nothing, and no other call", .timeLimit(.minutes(1)))
    func listening() async throws {
        let room = Room()
        let listener = Listener()
        let (stuck, free) = AsyncStream.makeStream(of: Void.self)
        room.disk.whileAppending.withLock { $0 = { for await _ in stuck {} } }
        await room.begin()
        await room.recorder.listen(to: "call", listener)
        room.come("ann", 7)
        room.come("cleo", 9, call: "another")
        for place in 0..<100 {
            room.say(7, place)
            room.say(9, place)
            room.pass(milliseconds: 20)
        }
        // A file is made, and what is to be in it waits.
        try await room.wait { !room.disk.files.isEmpty && listener.packets.count == 100 }
        for place in 100..<200 {
            room.say(7, place)
            room.pass(milliseconds: 20)
        }
        try await room.wait { listener.packets.count == 200 }
        #expect(listener.packets.allSatisfy { $0.name == "ann" })
        #expect(listener.packets.map(\.sequence) == Array(0..<200))
        #expect(room.disk.files.first?.bytes == [] && room.taps[0].droppedCount == 0)
        free.finish()
        await room.recorder.end("call")
        #expect(room.disk.files.map(\.duration) == [4_000], "Nothing is missing.")

        // The recording is over, and who listens goes on; another recording is one of its own.
        room.say(7, 200)
        try await room.wait { listener.packets.count == 201 }
        await room.begin("second")
        room.say(7, 201)
        try await room.wait { await room.recorder.trackCount == 1 }
        await room.recorder.unlisten(to: "call")
        room.say(7, 202)
        room.pass(milliseconds: 100)
        await room.recorder.end("call")
        #expect(listener.packets.count == 202 && listener.ended.isEmpty)
        #expect(room.disk.files.map(\.track.recording) == ["recording", "second"])
        #expect(await room.recorder.droppedCount == 0)
    }

    @Test("an end is one at once, and the next recording does not wait for it", .timeLimit(.minutes(1)))
    func endedAtOnce() async throws {
        let room = Room()
        let (stuck, free) = AsyncStream.makeStream(of: Void.self)
        room.disk.whileAppending.withLock { $0 = { for await _ in stuck {} } }
        await room.begin("first")
        room.come("ann", 7)
        for place in 0..<50 {
            room.say(7, place)
            room.pass(milliseconds: 20)
        }
        try await room.wait { !room.disk.files.isEmpty }
        await room.recorder.endWithoutWaiting("call")
        // Nothing of this is in the first.
        await room.begin("second")
        room.come("ann", 8)
        for place in 50..<100 {
            room.say(8, place)
            room.pass(milliseconds: 20)
        }
        #expect(room.recorded.isEmpty)
        async let whole: Void = room.recorder.end("call")
        free.finish()
        await whole
        #expect(room.recorded.map(\.recording) == ["first", "second"])
        #expect(room.recorded.map(\.duration) == [1_000, 1_000])
        #expect(room.disk.files.map(\.track.recording) == ["first", "second"])
        #expect(room.disk.files.map(\.duration) == [1_000, 1_000])
    }

    @Test("what waits for a file is bounded, and what is too much is dropped and counted", .timeLimit(.minutes(1)))
    func waiting() async throws {
        let room = Room()
        let listener = Listener()
        let (stuck, free) = AsyncStream.makeStream(of: Void.self)
        room.disk.whileAppending.withLock { $0 = { for await _ in stuck {} } }
        await room.begin()
        await room.recorder.listen(to: "call", listener)
        room.come("ann", 7)
        let payload = [0x78] + [UInt8](repeating: 1, count: 1_200)
        for place in 0..<1_500 {
            room.taps[0].copy(
                TappedPacket(
                    source: 7, sequence: UInt16(place), timestamp: UInt32(place) * 960, arrival: room.now),
                payload.span.bytes)
            room.pass(milliseconds: 20)
            if place % 50 == 49 { try await room.wait { listener.packets.count == place + 1 } }
        }
        let dropped = await room.recorder.droppedCount
        #expect(dropped > 300 && dropped < 1_000)
        free.finish()
        await room.recorder.end("call")
        #expect(room.disk.files.map(\.duration) == [30_000], "It is as long as it was.")
    }

    @Test("pages are on the disk while it goes on", .timeLimit(.minutes(1)))
    func pages() async throws {
        let room = Room()
        await room.begin("recording", of: "call")
        room.come("ann", 7)
        for place in 0..<200 {
            room.say(7, place)
            room.pass(milliseconds: 20)
        }
        // The last second may be missing, and no more.
        try await room.wait {
            guard let file = room.disk.files.first, let track = try? track(file) else { return false }
            return track.isCutOff && track.sampleCount >= 3 * 48_000
        }
        await room.recorder.stop()
    }

    @Test("a disk that is full ends the recording and says why", .timeLimit(.minutes(1)))
    func full() async throws {
        let room = Room(Disk(room: 600))
        await room.begin("recording", of: "call")
        await room.begin("other", of: "another")
        room.come("ann", 7)
        for place in 0..<400 {
            room.say(7, place)
            room.pass(milliseconds: 20)
        }
        try await room.wait { !room.recorded.isEmpty }
        #expect(room.recorded.map(\.recording) == ["recording"])
        #expect(room.recorded.first?.failure == "There is no room.")
        #expect(room.disk.files.map(\.isFinished) == [true] && room.disk.files.first?.duration == nil)
        await room.recorder.end("call")
        await room.recorder.end("another")
        #expect(room.recorded.map(\.recording) == ["recording", "other"])
    }

    @Test("each recording goes into the files that it was begun with", .timeLimit(.minutes(1)))
    func ownFiles() async throws {
        let (room, other) = (Room(), Disk(room: 0))
        await room.begin()
        await room.begin("another", of: "other call", into: other)
        room.come("ann", 7)
        room.come("ben", 8, call: "other call")
        for place in 0..<100 {
            room.say(7, place)
            room.say(8, place)
            room.pass(milliseconds: 20)
        }
        // That one has no room does not concern the other.
        try await room.wait { room.recorded.map(\.recording) == ["another"] }
        await room.recorder.end("call")
        #expect(room.disk.files.map(\.track.track.participant) == ["ann"] && room.disk.files.first?.duration == 2_000)
        #expect(other.files.map(\.track.track.participant) == ["ben"] && other.files.first?.bytes == [])
    }

    @Test("a tap that nobody empties drops what does not fit, and counts it")
    func overflow() {
        let tap = SoundTap(byteLimit: 10_000)
        tap.note(
            .began(
                TappedSource(
                    number: 1, call: "call", track: TrackName(participant: "ann", mid: "0", source: .microphone))))
        let payload = [UInt8](repeating: 0x78, count: 100)
        for place in 0..<1_000 {
            tap.copy(
                TappedPacket(
                    source: 1, sequence: UInt16(place), timestamp: 0, arrival: Instant(nanoseconds: 1)),
                payload.span.bytes)
        }
        #expect(tap.waitingByteCount <= 10_000)
        let batch = tap.take(leaving: TappedBatch())
        #expect(tap.droppedCount == UInt64(1_001 - batch.entries.count) && tap.waitingByteCount == 0)
        #expect(batch.entries.count > 50)
        for case .packet(_, let range) in batch.entries { #expect(batch.payload(range) == payload) }
    }
}
