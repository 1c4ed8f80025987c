import Containers
import DatagramIO
import Foundation
import Synchronization
import Wire

/// Records every call of a run through the API, and looks at what was kept: that nobody is missing, that it is as long as it
/// took, and for some of it that the files can be read.
final class CallRecordings: Sendable {
    /// Requests that are under way at a time.
    private static let atOnce = 8
    /// Files that are fetched and read.
    private static let fetched = 16
    /// Until the files of a recording that has ended are whole, in tenths of a second.
    private static let patience = 300
    /// The recorder is told when the request has been answered, and comes around twenty times a second.
    private static let slack = 0.25
    private static let longest = OpusLimit(seconds: 100_000)

    private let http: MediaHTTP
    /// How many tracks there are to be in each; nil where people come and go.
    private let publishers: Int?
    private let tally = Mutex(RecordingTally())

    /// A recording that goes on. It began between these.
    private struct Begun: Sendable {
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

    private let begun = Mutex<[Begun]>([])

    init(_ http: MediaHTTP, publishers: Int?) {
        self.http = http
        self.publishers = publishers
    }

    /// Begins a recording of each.
    func begin(_ calls: [MediaCall]) async {
        await each(calls) { call in
            guard let seat = call.seats.first else { return }
            do {
                let asked = SystemClock.now()
                let answer: Called = try await self.http.post(
                    "/v1/calls/\(call.id)/recording", [String: String](), seat.headers)
                guard let recording = answer.call.recording else { throw MediaFailure("a call is not recorded") }
                let made = Begun(call: call, id: recording.id, asked: asked, answered: SystemClock.now())
                self.begun.withLock { $0.append(made) }
                self.tally.withLock { $0.begun += 1 }
            } catch let error as MediaFailure where error.isRefusal {
                self.tally.withLock { $0.refused += 1 }
            } catch {
                self.count("\(error)")
            }
        }
    }

    /// Ends them and returns what was found.
    func end() async -> RecordingTally {
        await each(begun.withLock { $0 }) { recording in
            do {
                try await self.end(recording)
            } catch {
                self.tally.withLock { $0.failed += 1 }
                self.count("a recording: \(error)")
            }
        }
        return tally.withLock { $0 }
    }

    private func each<Thing: Sendable>(_ things: [Thing], _ body: @escaping @Sendable (Thing) async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, thing) in things.enumerated() {
                if index >= Self.atOnce { await group.next() }
                group.addTask { await body(thing) }
            }
        }
    }

    private func end(_ recording: Begun) async throws {
        guard let seat = recording.call.seats.first else { return }
        let asked = SystemClock.now()
        let _: Called = try await http.remove("/v1/calls/\(recording.call.id)/recording", seat.headers)
        let answered = SystemClock.now()
        let manifest = try await whole(recording, seat)
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

    private func whole(_ recording: Begun, _ seat: MediaCall.Seat) async throws -> Manifest.Recording {
        for _ in 0..<Self.patience {
            let manifest: Manifest = try await http.get("/v1/recordings/\(recording.id)", seat.headers)
            let found = manifest.recording
            if found.status != "ongoing", found.tracks.allSatisfy({ $0.durationMs != nil }) { return found }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw MediaFailure("its files are not whole after \(Self.patience / 10) s")
    }

    private func check(_ manifest: Manifest.Recording, took seconds: (least: Double, most: Double)) throws {
        let tracks = manifest.tracks
        let byteCount = tracks.reduce(0) { $0 + ($1.byteCount ?? 0) }
        let length = tracks.reduce(0.0) { $0 + Double($1.durationMs ?? 0) / 1000 }
        tally.withLock { tally in
            tally.tracks += tracks.count
            tally.byteCount += byteCount
            tally.seconds += length
        }
        guard let publishers else { return }
        guard tracks.count == publishers, Set(tracks.map(\.user)).count == publishers else {
            throw MediaFailure("it has \(tracks.count) tracks, and \(publishers) people spoke")
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

    /// The file, unless enough have been read.
    private func read(_ track: Manifest.Track) async throws {
        let isWanted = tally.withLock { tally in
            guard tally.fetched < Self.fetched else { return false }
            tally.fetched += 1
            return true
        }
        guard isWanted else { return }
        guard let link = track.audio else { throw MediaFailure("there is no way to a file") }
        let file = try await http.fetch(link.url)
        guard file.count == track.byteCount else { throw MediaFailure("a file has not as many bytes as are told") }
        let sound: OpusTrack
        do {
            sound = try OpusFile.read(file.span.bytes, limit: Self.longest)
        } catch {
            throw MediaFailure("a file cannot be read: \(error)")
        }
        guard !sound.isCutOff, abs(Int(sound.sampleCount / 48) - (track.durationMs ?? 0)) <= 1 else {
            throw MediaFailure("a file is not as long as is told")
        }
    }

    private static func shown(_ seconds: Double) -> String { String(format: "%.1f", seconds) }

    private func count(_ problem: String) {
        tally.withLock { $0.errors[problem, default: 0] += 1 }
    }
}

/// What became of the recordings of a run.
struct RecordingTally: Encodable, Sendable {
    var begun = 0
    /// Not begun, as the server said.
    var refused = 0
    /// Begun, and not whole in the end.
    var failed = 0
    var tracks = 0
    var byteCount = 0
    /// Of all tracks together.
    var seconds = 0.0
    /// Files that were read.
    var fetched = 0
    var errors: [String: Int] = [:]
}

extension MediaCall.Seat {
    /// Of a request by this participant.
    var headers: [(String, String)] {
        [("Authorization", "Bearer \(person.token)"), ("Switchboard-Endpoint", "\(endpoint) \(secret)")]
    }
}
