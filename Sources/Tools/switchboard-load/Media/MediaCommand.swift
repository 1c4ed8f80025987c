import ArgumentParser
import Foundation
import SecureMedia

enum MediaServerKind: String, ExpressibleByArgument, CaseIterable {
    case switchboard
    case janus
}

/// `switchboard-load media`: virtual participants call each other through the media gateway.
struct MediaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "media",
        abstract: "Virtual participants send audio and video through the media gateway.",
        discussion: """
            Each participant is a WebRTC client with a socket, a certificate and SRTP keys of its own: it joins a call in \
            gateway mode, runs ICE with the server, and sends Opus (50 packets of 80 bytes a second) and, with --video, \
            VP8 (30 frames a second) whose packets say when they were sent. Loss and one-way latency are those between \
            two participants. The media is synthetic: its headers are those of a browser, its content is noise. \
            Users come from `switchboard token`:

              switchboard token --count 20 --config switchboard.yaml > users
              switchboard-load media --server http://127.0.0.1:8080 --tokens users --calls 5 --participants 4 --video

            With --record every call is recorded while it is measured; in the end each track has to be as long as that \
            took, and some files are fetched and read. With --transcribe, which requires --speech, every call has \
            captions, which are timed from the end of each speech.

            A rate that this program or the server cannot keep shows as loss and as latency. limits.callsPerMinute \
            applies to the load too.
            """)

    @Option(help: "The server's address; http only.")
    var server = "http://127.0.0.1:8080"

    @Option(
        name: .customLong("door"),
        help: "The kind of server: switchboard, or for comparison janus, with its VideoRoom over HTTP.")
    var serverKind = MediaServerKind.switchboard

    @Option(help: "The output of `switchboard token`; - for the standard input. Janus needs none.")
    var tokens: String?

    @Option(help: "How many calls.")
    var calls = 10

    @Option(help: "How many people in each call, at most 50.")
    var participants = 2

    @Option(help: "How many of each call send media; the default is all of them.")
    var publishers: Int?

    @Flag(help: "Publishers send video too.")
    var video = false

    @Option(help: "Kilobits of video that each publisher sends in a second.")
    var bitrate = 1000

    @Option(help: "Seconds to measure.")
    var seconds = 10.0

    @Option(help: "Seconds before that, after everybody has joined.")
    var warmUp = 1.0

    @Option(help: "An SRTP profile to offer, instead of all: AEAD-AES-128-GCM, AEAD-AES-256-GCM, AES128-CM-SHA1-80.")
    var profile: String?

    @Option(
        name: .customLong("join-leave"),
        help: """
            Participants that leave and rejoin in a second, over all calls: alternately they reload their page or, if \
            others stay, leave the call and join it again.
            """
    )
    var churn = 0.0

    @Option(help: "Forged, replayed and broken packets that each leg sends in a second, from its own address.")
    var junk = 0.0

    @Option(
        help: "A file with Opus in Ogg or WebM that publishers send in a loop, instead of noise. May be repeated.")
    var speech: [String] = []

    @Option(help: "Seconds of silence after each.")
    var pause = 2.0

    @Flag(help: "Record every call, and check the recordings.")
    var record = false

    @Flag(help: "Have live captions made of every call.")
    var transcribe = false

    @Option(help: "Threads for media. One leaves the other cores to the server.")
    var threads = 1

    @Option(help: "The server's process id, to measure its CPU time and memory.")
    var pid: Int?

    @Option(help: "Write the results to this file, as JSON.")
    var json: String?

    func validate() throws {
        guard serverKind == .janus || tokens != nil else {
            throw ValidationError("--tokens is required: the file with the output of `switchboard token`.")
        }
        guard (1...10_000).contains(calls), (2...50).contains(participants) else {
            throw ValidationError("--calls must be 1 to 10000, --participants 2 to 50.")
        }
        guard (1...participants).contains(publishers ?? participants) else {
            throw ValidationError("--publishers must be 1 to \(participants), the --participants.")
        }
        guard (10...50_000).contains(bitrate), (0.1...86_400).contains(seconds) else {
            throw ValidationError("--bitrate must be 10 to 50000 kbit/s, --seconds 0.1 to 86400.")
        }
        guard (0...3_600).contains(warmUp) else { throw ValidationError("--warm-up must be 0 to 3600 seconds.") }
        guard (0...1_000).contains(churn), (0...100_000).contains(junk), (1...64).contains(threads) else {
            throw ValidationError("--join-leave must be 0 to 1000, --junk 0 to 100000, --threads 1 to 64.")
        }
        guard (0...3_600).contains(pause) else { throw ValidationError("--pause must be 0 to 3600 seconds.") }
        guard serverKind == .switchboard || !record && !transcribe else {
            throw ValidationError("--record and --transcribe are for --door switchboard.")
        }
        guard !transcribe || !speech.isEmpty else { throw ValidationError("--transcribe requires --speech.") }
        _ = try profiles()
        _ = try TargetServer(server)
    }

    private func profiles() throws -> [SRTPProfile] {
        guard let profile else { return SRTPProfile.preferred }
        do {
            return [try SRTPProfile(named: profile)]
        } catch {
            throw ValidationError("--profile: \(error)")
        }
    }

    private func users() throws -> [VirtualUser] {
        guard serverKind == .switchboard else {
            return (0..<calls * participants).map { VirtualUser(user: "\($0)", token: "") }
        }
        let people = try VirtualUser.read(tokens ?? "-")
        guard people.count >= calls * participants else {
            throw ValidationError(
                "\(tokens ?? "-") has \(people.count) users, but the calls need \(calls * participants).")
        }
        return people
    }

    func run() async throws {
        let people = try users()
        let load = MediaLoad(
            calls: calls, participants: participants, publishers: publishers ?? participants, video: video,
            bitrate: bitrate * 1000, seconds: seconds, warmUp: warmUp, profiles: try profiles(), churn: churn,
            junk: junk, threads: threads, speech: try SpokenClip.read(speech, pause: pause))
        var address = server
        while address.hasSuffix("/") { address.removeLast() }
        let http = MediaHTTP(server: address)
        let client: any MediaServerClient =
            serverKind == .janus ? JanusClient(http: http) : SwitchboardCallClient(http: http)
        let report = try await MediaRun(
            load, client, people: people, processID: pid,
            recordings: record ? CallRecordings(http, publishers: churn > 0 ? nil : load.publishers) : nil,
            captions: transcribe ? CallCaptions(http) : nil
        ).run()
        print(report.table)
        if let json { try report.json.write(to: URL(fileURLWithPath: json)) }
        if report.errors > 0 || report.packets == 0 { throw ExitCode(1) }
    }
}
