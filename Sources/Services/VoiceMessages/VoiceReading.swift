import Audio
import Containers
import Foundation
import Model
import Voice

/// A voice message's file, from an upload or a recording: its Opus packets in a new Ogg file, and the properties of its
/// audio.
///
/// The packets are not re-encoded. Everything else is removed: other streams, and comments, in which recorders may
/// write the location.
package struct VoiceReading: Sendable {
    static let contentType = "audio/ogg"
    private static let vendor = "Switchboard"
    private static let slackSeconds = 120
    private static let minSampleCount: UInt64 = 480

    let file: [UInt8]
    let audio: VoiceAudio

    /// Parses and decodes an upload, which takes a while.
    ///
    /// - Throws: a `Problem` that describes what is wrong with the file.
    init(_ upload: [UInt8], _ rules: VoiceRules) throws {
        do {
            try self.init(OpusFile.read(upload.span.bytes, limit: OpusLimit(seconds: rules.secondsLimit)))
        } catch let error as ContainerError {
            throw Problem.invalid("body", "The file is not valid: \(error).")
        }
    }

    /// Parses and decodes a recording of this server, up to the maximum length, which takes a while.
    ///
    /// - Throws: a `Problem` if nothing was recorded.
    init(recorded file: [UInt8], _ rules: VoiceRules) throws {
        // The recorder stops with a short delay, and files of lost connections end with silence.
        var track = try OpusFile.read(
            file.span.bytes, limit: OpusLimit(seconds: rules.secondsLimit + Self.slackSeconds))
        track.trim(to: OpusLimit(seconds: rules.secondsLimit))
        guard track.sampleCount >= Self.minSampleCount else { throw VoiceService.nothingRecorded }
        try self.init(track)
    }

    private init(_ track: OpusTrack) throws {
        guard track.sampleCount >= Self.minSampleCount else {
            throw Problem.invalid("body", "There is no audio in this file.")
        }
        let samples = try Self.decode(track)
        let waveform = Waveform(samples, count: VoiceRules.waveformCount)
        file = Self.rewrite(track)
        audio = VoiceAudio(
            durationMs: Int(track.sampleCount / 48), byteCount: file.count, contentType: Self.contentType,
            waveform: waveform.peaks.map { (Int($0) * 100 + 127) / 255 }, level: waveform.level)
    }

    /// Decodes a file to 16 kHz, which takes a while.
    ///
    /// - Throws: a `Problem` that describes what is wrong with the file.
    package static func samples(of file: [UInt8], seconds: Int) throws -> [Int16] {
        do {
            return try decode(OpusFile.read(file.span.bytes, limit: OpusLimit(seconds: seconds)))
        } catch let error as ContainerError {
            throw Problem.invalid("body", "The file is not valid: \(error).")
        }
    }

    /// Decodes a track to 16 kHz.
    private static func decode(_ track: OpusTrack) throws -> [Int16] {
        let decoder = try VoiceDecoder(.wide)
        let divisor = UInt64(decoder.rate.divisor)
        var samples: [Int16] = []
        samples.reserveCapacity(Int(track.end / divisor) + 1)
        for index in 0..<track.packetCount {
            let packet = track.packet(index)
            let gap = Int(packet.start / divisor) - samples.count
            if gap > 0 { samples.append(contentsOf: repeatElement(0, count: gap)) }
            guard decoder.decode(packet.bytes, into: &samples) else {
                let seconds = String(format: "%.1f", Double(packet.start) / 48_000)
                throw Problem.invalid("body", "The file is not valid: its audio is damaged at \(seconds) s.")
            }
        }
        samples.removeFirst(min(Int(UInt64(track.head.preSkip) / divisor), samples.count))
        samples.removeLast(max(0, samples.count - Int(track.sampleCount / divisor)))
        if track.head.gain != 0 {
            let factor = pow(10, Double(track.head.gain) / (20 * 256))
            for index in samples.indices {
                samples[index] = Int16(min(max(Double(samples[index]) * factor, -32_768), 32_767))
            }
        }
        return samples
    }

    private static func rewrite(_ track: OpusTrack) -> [UInt8] {
        var writer = OggOpusWriter(serial: .random(in: .min ... .max), head: track.head)
        var file = writer.begin(OpusTags(vendor: vendor))
        var end: UInt64 = 0
        for index in 0..<track.packetCount {
            let packet = track.packet(index)
            // Ogg has no gaps.
            for silence in OpusFiller.silence(packet.start > end ? packet.start - end : 0) {
                file += writer.append(silence.bytes[...], duration: silence.duration)
                end += UInt64(silence.duration)
            }
            file += writer.append(packet.bytes, duration: packet.duration)
            end += UInt64(packet.duration)
        }
        let audibleEnd = track.sampleCount + UInt64(track.head.preSkip)
        file += writer.end(leavingOut: end > audibleEnd ? end - audibleEnd : 0)
        return file
    }
}
