import Foundation
import Histogram
import SecureMedia

/// The results of a media run, as a table for people and as JSON.
struct MediaReport: RunReport {
    let load: MediaLoad
    let legs: Int
    /// When measuring began, in nanoseconds of the monotonic clock: for profiles of the same time.
    var began: UInt64 = 0
    var seconds = 0.0
    var counters = MediaCounters()
    var server: ProcessTimes?
    var own: ProcessTimes?
    /// Bytes of the server before anybody joined, and at the end of measuring.
    var idleMemory: Int?
    var memory: Int?
    /// Nil if nothing was recorded.
    var recordings: RecordingCounters?
    /// Nil if nothing was captioned.
    var captions: CaptionCounters?

    init(_ load: MediaLoad, legs: Int) {
        self.load = load
        self.legs = legs
    }

    var errors: Int { allErrors.values.reduce(0, +) }
    private var allErrors: [String: Int] {
        counters.errors.merging(recordings?.errors ?? [:], uniquingKeysWith: +)
            .merging(captions?.errors ?? [:], uniquingKeysWith: +)
    }
    var packets: UInt64 { counters.audio.account.packets + counters.video.account.packets }

    private var pace: Double { seconds > 0 ? Double(packets) / seconds : 0 }

    private func perPacket(_ seconds: Double) -> Double {
        packets > 0 ? seconds * 1e6 / Double(packets) : 0
    }

    private var memoryPerParticipant: Double? {
        guard let idleMemory, let memory else { return nil }
        return Double(memory - idleMemory) / Double(max(1, load.calls * load.participants))
    }

    var table: String {
        var lines = [
            "\(load.calls) calls of \(load.participants), \(load.publishers) of each publish"
                + (load.video ? " audio and video at \(load.bitrate / 1000) kbit/s" : " audio")
                + ", \(legs) legs with \(counters.profiles.keys.sorted().joined(separator: ", "))",
            "\(counters.sent) packets sent in \(decimal(seconds, 1)) s, \(packets) forwarded, \(decimal(pace, 0)) a second",
        ]
        for (name, kind) in [("audio", counters.audio), ("video", counters.video)] where kind.streams > 0 {
            lines.append(
                "\(kind.streams) streams of \(name): \(kind.account.lost) packets lost (\(decimal(kind.account.loss * 100, 4)) %, at worst"
                    + " \(decimal(kind.worstLoss * 100, 2)) % of a stream), \(kind.account.repaired) repaired,"
                    + " \(kind.account.reordered) reordered, \(kind.silent) streams silent")
        }
        lines += ["", row("microseconds", pointNames)]
        for (name, kind) in [("audio, one way", counters.audio), ("video, one way", counters.video)]
        where kind.streams > 0 {
            lines.append(row(name, percentiles(kind.latency)))
            lines.append(row("  in the server", percentiles(kind.residence)))
        }
        lines += [
            row("offer to DTLS", percentiles(counters.connected)),
            row("offer to media", percentiles(counters.firstPacket)),
        ]
        if let captions { lines.append(row("speech to caption", percentiles(captions.latency))) }
        lines += [""] + costs + [""]
        if counters.left > 0 { lines.append("\(counters.joined) legs joined, \(counters.left) left") }
        if counters.junk > 0 { lines.append("\(counters.junk) packets of junk sent") }
        if counters.refused > 0 { lines.append("\(counters.refused) packets came that were of no leg") }
        if let recordings {
            lines.append(
                "\(recordings.begun) recordings with \(recordings.tracks) tracks, \(recordings.byteCount >> 10) KiB for"
                    + " \(decimal(recordings.seconds, 0)) s; \(recordings.refused) refused, \(recordings.failed) failed;"
                    + " \(recordings.fetched) files were read")
        }
        if let captions {
            lines.append(
                "\(captions.calls) calls with captions, \(captions.captions) captions of \(captions.said) sayings"
                    + " (\(captions.partial) of the middle of one), such as: \(captions.example)")
            for (what, count) in captions.refused { lines.append("  \(count) refused: \(what)") }
            for (what, count) in captions.failures { lines.append("  \(count) failed: \(what)") }
        }
        lines.append(errors == 0 ? "no errors" : "\(errors) errors:")
        for (what, count) in allErrors.sorted(by: { $0.value > $1.value }) { lines.append("  \(count) \(what)") }
        return lines.joined(separator: "\n")
    }

    private var costs: [String] {
        var lines: [String] = []
        if let server {
            lines.append(
                "server CPU for each forwarded packet: \(decimal(perPacket(server.all.total), 2)) µs"
                    + " (user \(decimal(perPacket(server.all.user), 2)), system \(decimal(perPacket(server.all.system), 2)))"
                    + ", \(decimal(share(server) * 100, 0)) % of a core")
            for (name, times) in server.threads.sorted(by: { $0.value.total > $1.value.total }) where times.total > 0 {
                lines.append("  \(name): \(decimal(perPacket(times.total), 2)) µs")
            }
        }
        if let memory, let each = memoryPerParticipant {
            lines.append(
                "server memory: \(memory >> 20) MiB, \(decimal(each / 1024, 0)) KiB more for each participant than before"
            )
        }
        if let own {
            lines.append(
                "this program: \(decimal(perPacket(own.all.total), 2)) µs CPU for each packet, "
                    + "\(decimal(share(own) * 100, 0)) % of a core")
            if share(own) > 0.95 * Double(load.threads) {
                lines.append("It is at its limit: give it more --threads, or start it more than once.")
            }
        }
        return lines
    }

    private func share(_ times: ProcessTimes) -> Double { seconds > 0 ? times.all.total / seconds : 0 }

    var json: Data {
        get throws {
            return try written(stats)
        }
    }

    private struct Streams: Encodable {
        var streams, silent, lossy: Int
        var packets, lost, repaired, reordered: UInt64
        var loss, worstLoss: Double
        var oneWayMicroseconds, residenceMicroseconds: [String: UInt64]
    }

    private struct Stats: Encodable {
        var calls, participants, publishers, legs: Int
        var video: Bool
        var bitrate: Int
        var profiles: [String: Int]
        var began: UInt64
        var seconds: Double
        var sent, received, forwarded, resent, nacks, pictureLosses, feedback, probes, refused, junk: UInt64
        var forwardedPerSecond: Double
        var audioStreams, videoStreams: Streams
        var connectedMicroseconds, firstPacketMicroseconds: [String: UInt64]
        var joined, left: Int
        var serverMicrosecondsPerPacket, serverUserMicrosecondsPerPacket: Double?
        var serverShareOfCore: Double?
        var serverMicrosecondsPerPacketByThread: [String: Double]?
        var serverMemory: Int?
        var serverMemoryPerParticipant: Double?
        var ownMicrosecondsPerPacket, ownShareOfCore: Double?
        var recordings: RecordingCounters?
        var captions: Captions?
        var errors: [String: Int]
    }

    private struct Captions: Encodable {
        var calls, said, captions, partial: Int
        var refused, failures: [String: Int]
        var example: String
        var speechToCaptionMicroseconds: [String: UInt64]
    }

    private var stats: Stats {
        Stats(
            calls: load.calls, participants: load.participants, publishers: load.publishers, legs: legs,
            video: load.video, bitrate: load.bitrate, profiles: counters.profiles, began: began, seconds: seconds,
            sent: counters.sent, received: counters.received, forwarded: packets, resent: counters.resent,
            nacks: counters.nacks, pictureLosses: counters.pictureLosses, feedback: counters.feedback,
            probes: counters.probes, refused: counters.refused, junk: counters.junk,
            forwardedPerSecond: pace, audioStreams: streams(counters.audio),
            videoStreams: streams(counters.video), connectedMicroseconds: named(counters.connected),
            firstPacketMicroseconds: named(counters.firstPacket), joined: counters.joined, left: counters.left,
            serverMicrosecondsPerPacket: server.map { perPacket($0.all.total) },
            serverUserMicrosecondsPerPacket: server.map { perPacket($0.all.user) },
            serverShareOfCore: server.map(share),
            serverMicrosecondsPerPacketByThread: server?.threads.mapValues { perPacket($0.total) },
            serverMemory: memory, serverMemoryPerParticipant: memoryPerParticipant,
            ownMicrosecondsPerPacket: own.map { perPacket($0.all.total) }, ownShareOfCore: own.map(share),
            recordings: recordings, captions: captions.map(shown), errors: allErrors)
    }

    private func shown(_ captions: CaptionCounters) -> Captions {
        Captions(
            calls: captions.calls, said: captions.said, captions: captions.captions,
            partial: captions.partial, refused: captions.refused, failures: captions.failures,
            example: captions.example,
            speechToCaptionMicroseconds: named(captions.latency))
    }

    private func streams(_ kind: MediaCounters.StreamSummary) -> Streams {
        Streams(
            streams: kind.streams, silent: kind.silent, lossy: kind.lossy, packets: kind.account.packets,
            lost: kind.account.lost, repaired: kind.account.repaired, reordered: kind.account.reordered,
            loss: kind.account.loss, worstLoss: kind.worstLoss, oneWayMicroseconds: named(kind.latency),
            residenceMicroseconds: named(kind.residence))
    }
}
