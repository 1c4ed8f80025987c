import Containers
import DatagramIO
import Foundation
import Synchronization
import Wire

/// Records every call of a run through the API, and checks the recordings: that no track is missing, that their length
/// is right, and for some of them that the files can be read.
final class CallRecordings: Sendable {
    /// Concurrent requests.
    private static let atOnce = 8
    /// How many files are fetched and read.
    private static let fetched = 16
    /// How often the end of a recording is polled, every tenth of a second.
    private static let maxPolls = 300
    /// In seconds. The recorder is notified after the response was sent, and runs twenty times a second.
    private static let slack = 0.25
    private static let maxLength = OpusLimit(seconds: 100_000)

    private let http: MediaHTTP
    /// The expected number of tracks of each recording; nil if participants leave and rejoin.
    private let publishers: Int?
    private let counters = Mutex(RecordingCounters())

    /// A recording in progress. It began between the two times.
    private struct StartedRecording: Sendable {
        let call: MediaCall
        let id: String
        let asked: Instant
        let answered: Instant
    }

    private struct Called: Decodable {
        struct Recording: Decodable { var id: String }
        struct Call: Decodable { var recording: Recording? }
        var call: Call
    }

    private struct Manifest: Decodable {
        struct Link: Decodable { var url: String }
        struct Track: Decodable {
            var user: String
            var offsetMs: Int
            var durationMs: Int?
            var byteCount: Int?
            var audio: Link?
        }
        struct Recording: Decodable {
            var status: String
            var failure: String?
            var tracks: [Track]
        }
        var recording: Recording
    }

    private let begun = Mutex<[StartedRecording]>([])

    init(_ http: MediaHTTP, publishers: Int?) {
        self.http = http
        self.publishers = publishers
    }

    /// Starts a recording of each call.
    func begin(_ calls: [MediaCall]) async {
        await each(calls) { call in
            guard let member = call.members.first else { return }
            do {
                let asked = SystemClock.now()
                let response: Called = try await self.http.post(
                    "/v1/calls/\(call.id)/recording", [String: String](), member.headers)
                guard let recording = response.call.recording else { throw MediaFailure("a call is not recorded") }
                let started = StartedRecording(call: call, id: recording.id, asked: asked, answered: SystemClock.now())
                self.begun.withLock { $0.append(started) }
                self.counters.withLock { $0.begun += 1 }
            } catch let error as MediaFailure where error.isRejection {
                self.counters.withLock { $0.refused += 1 }
            } catch {
                self.count("\(error)")
            }
        }
    }

    /// Ends the recordings, and returns the results.
    func end() async -> RecordingCounters {
        await each(begun.withLock { $0 }) { recording in
            do {
                try await self.end(recording)
            } catch {
                self.counters.withLock { $0.failed += 1 }
                self.count("a recording: \(error)")
            }
        }
        return counters.withLock { $0 }
    }

    private func each<Thing: Sendable>(_ things: [Thing], _ body: @escaping @Sendable (Thing) async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, thing) in things.enumerated() {
                if index >= Self.atOnce { await group.next() }
                group.addTask { await body(thing) }
            }
        }
    }

    private func end(_ recording: StartedRecording) async throws {
        guard let member = recording.call.members.first else { return }
        let asked = SystemClock.now()
        let _: Called = try await http.remove("/v1/calls/\(recording.call.id)/recording", member.headers)
        let answered = SystemClock.now()
        let manifest = try await completedManifest(of: recording, member)
        guard manifest.status == "complete" else {
            throw MediaFailure("it is \(manifest.status): \(manifest.failure ?? "")")
        }
        let seconds = (
            least: Double(asked.nanoseconds(since: recording.answered)) / 1e9,
            most: Double(answered.nanoseconds(since: recording.asked)) / 1e9
        )
        try check(manifest, took: seconds)
        for track in manifest.tracks { try await read(track) }
    }

    private func completedManifest(
        of recording: StartedRecording, _ member: MediaCall.Member
    ) async throws -> Manifest.Recording {
        for _ in 0..<Self.maxPolls {
            let manifest: Manifest = try await http.get("/v1/recordings/\(recording.id)", member.headers)
            let found = manifest.recording
            if found.status != "ongoing", found.tracks.allSatisfy({ $0.durationMs != nil }) { return found }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw MediaFailure("its files are not complete after \(Self.maxPolls / 10) s")
    }

    private func check(_ manifest: Manifest.Recording, took seconds: (least: Double, most: Double)) throws {
        let tracks = manifest.tracks
        let byteCount = tracks.reduce(0) { $0 + ($1.byteCount ?? 0) }
        let length = tracks.reduce(0.0) { $0 + Double($1.durationMs ?? 0) / 1000 }
        counters.withLock { counters in
            counters.tracks += tracks.count
            counters.byteCount += byteCount
            counters.seconds += length
        }
        guard let publishers else { return }
        guard tracks.count == publishers, Set(tracks.map(\.user)).count == publishers else {
            throw MediaFailure("it has \(tracks.count) tracks for \(publishers) publishers")
        }
        for track in tracks {
            let end = Double(track.offsetMs + (track.durationMs ?? 0)) / 1000
            guard end >= seconds.least * 0.99 - Self.slack, end <= seconds.most * 1.01 + Self.slack else {
                throw MediaFailure(
                    "a track ends after \(Self.shown(end)) s, and the recording took \(Self.shown(seconds.least)) to"
                        + " \(Self.shown(seconds.most)) s")
            }
        }
    }

    /// Reads the file, unless enough have been read.
    private func read(_ track: Manifest.Track) async throws {
        let isNeeded = counters.withLock { counters in
            guard counters.fetched < Self.fetched else { return false }
            counters.fetched += 1
            return true
        }
        guard isNeeded else { return }
        guard let link = track.audio else { throw MediaFailure("a track has no URL") }
        let file = try await http.fetch(link.url)
        guard file.count == track.byteCount else { throw MediaFailure("the size of a file differs from its byteCount") }
        let audio: OpusTrack
        do {
            audio = try OpusFile.read(file.span.bytes, limit: Self.maxLength)
        } catch {
            throw MediaFailure("a file cannot be read: \(error)")
        }
        guard !audio.isTruncated, abs(Int(audio.sampleCount / 48) - (track.durationMs ?? 0)) <= 1 else {
            throw MediaFailure("the length of a file differs from its durationMs")
        }
    }

    private static func shown(_ seconds: Double) -> String { String(format: "%.1f", seconds) }

    private func count(_ problem: String) {
        counters.withLock { $0.errors[problem, default: 0] += 1 }
    }
}

/// The results of the recordings of a run.
struct RecordingCounters: Encodable, Sendable {
    var begun = 0
    /// Recordings that the server rejected.
    var refused = 0
    /// Recordings that failed after they began.
    var failed = 0
    var tracks = 0
    var byteCount = 0
    /// The length of all tracks together.
    var seconds = 0.0
    /// Files that were read.
    var fetched = 0
    var errors: [String: Int] = [:]
}

extension MediaCall.Member {
    /// The headers of a request by this participant.
    var headers: [(String, String)] {
        [("Authorization", "Bearer \(person.token)"), ("Switchboard-Endpoint", "\(endpoint) \(secret)")]
    }
}
