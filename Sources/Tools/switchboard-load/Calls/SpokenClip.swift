import Containers
import Foundation
import RTP
import Wire

/// Speech that publishers send in a loop, each from another position: files, with a pause after each.
///
/// The packets are those of the files, with padding for the mark, which decoders ignore (RFC 6716 section 3.2.5).
struct SpokenClip: Sendable {
    struct Packet: Hashable, Sendable {
        /// Space for an RTP header, and the payload, which ends with space for the mark.
        let raw: [UInt8]
        /// Samples at 48 kHz.
        let duration: UInt32

        init?(_ opus: some Collection<UInt8>, duration: UInt32) {
            guard let payload = Self.padded(Array(opus)) else { return nil }
            raw = [0x80] + [UInt8](repeating: 0, count: RTPPacket.headerByteCount - 1) + payload
            self.duration = duration
        }

        var payload: ArraySlice<UInt8> { raw.dropFirst(RTPPacket.headerByteCount) }

        /// The same frames with padding for a mark; nil if it is not a packet, or has too much padding already.
        ///
        ///     | configuration, code 3 | VBR, padding, number of frames | bytes of padding | as before | padding
        private static func padded(_ opus: [UInt8]) -> [UInt8]? {
            let count = UInt8(MediaMark.byteCount)
            guard let first = opus.first, OpusPayload(opus.span.bytes) != nil else { return nil }
            var rest = opus.dropFirst()
            let frames: UInt8
            var padding = count
            switch first & 3 {
            case 0: frames = 1
            case 1: frames = 2
            case 2: frames = 0x82
            default:
                frames = rest.popFirst() ?? 0
                guard frames & 0x40 != 0 else { break }
                // Longer padding takes more than one length byte.
                guard let existing = rest.popFirst(), existing < 255 - count else { return nil }
                padding += existing
            }
            return [first | 3, frames | 0x40, padding] + rest + [UInt8](repeating: 0, count: Int(count))
        }
    }

    private(set) var packets: [Packet] = []
    /// The indices of the last packets of the files, each of which is followed by silence.
    private(set) var ends: Set<Int> = []

    private static let maxLength = OpusLimit(seconds: 600)
    private static let frame: UInt64 = 960
    private static let ticksPerSecond = 48_000.0

    /// - Parameters:
    ///   - files: sent one after the other.
    ///   - pause: silence after each, in seconds.
    /// - Throws: an error that describes what is wrong with a file.
    init(_ files: [[UInt8]], pause: Double) throws {
        for file in files {
            try append(file)
            ends.insert(packets.count - 1)
            packets += Self.silence(UInt64(pause * Self.ticksPerSecond))
        }
    }

    /// Reads the files.
    static func read(_ paths: [String], pause: Double) throws -> SpokenClip? {
        guard !paths.isEmpty else { return nil }
        let files = try paths.map { path in
            guard let data = FileManager.default.contents(atPath: path) else {
                throw MediaFailure("\(path) cannot be read")
            }
            return Array(data)
        }
        do {
            return try SpokenClip(files, pause: pause)
        } catch {
            throw MediaFailure("\(paths.joined(separator: ", ")) cannot be used as speech: \(error)")
        }
    }

    private mutating func append(_ file: [UInt8]) throws {
        let track = try OpusFile.read(file.span.bytes, limit: Self.maxLength)
        guard track.packetCount > 0 else { throw MediaFailure("it has no packets") }
        var end: UInt64 = 0
        for index in 0..<track.packetCount {
            let (bytes, start, duration) = track.packet(index)
            packets += Self.silence(start > end ? start - end : 0)
            guard let packet = Packet(bytes, duration: duration) else {
                throw MediaFailure("its packet \(index) cannot be sent")
            }
            packets.append(packet)
            end = start + UInt64(duration)
        }
    }

    private static func silence(_ samples: UInt64) -> [Packet] {
        (0..<samples / frame).flatMap { _ in OpusFiller.silence(frame) }
            .compactMap { Packet($0.bytes, duration: $0.duration) }
    }
}
