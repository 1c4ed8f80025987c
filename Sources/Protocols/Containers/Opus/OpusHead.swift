import Wire

/// The identification header of Opus in a file (RFC 7845 section 5.1), which is WebM's `CodecPrivate` too.
///
///     "OpusHead" | version 1 | channels | pre-skip (2) | input rate (4) | gain (2) | mapping family | …  little-endian
package struct OpusHead: Hashable, Sendable {
    package static let byteCount = 19

    /// 1 or 2.
    package let channelCount: Int
    /// Samples at 48 kHz that a player discards from the beginning of the decoder's output.
    package let preSkip: UInt16
    /// The sample rate of the original input in hertz, for information.
    package let inputRate: UInt32
    /// The gain to apply to the decoder's output, in 1/256 dB.
    package let gain: Int16

    package init(channelCount: Int = 1, preSkip: UInt16, inputRate: UInt32 = 48_000, gain: Int16 = 0) {
        self.channelCount = min(max(channelCount, 1), 2)
        self.preSkip = preSkip
        self.inputRate = inputRate
        self.gain = gain
    }

    /// - Parameter offset: its offset in the file, for errors.
    init(_ bytes: RawSpan, at offset: Int) throws(ContainerError) {
        guard Self.begins(bytes) else { throw .malformed("there is no OpusHead", at: offset) }
        guard let version = bytes.byte(at: 8), let channels = bytes.byte(at: 9),
            let preSkip = bytes.littleEndian(at: 10, as: UInt16.self),
            let rate = bytes.littleEndian(at: 12, as: UInt32.self),
            let gain = bytes.littleEndian(at: 16, as: Int16.self), let family = bytes.byte(at: 18)
        else { throw .malformed("the OpusHead ends too early", at: offset) }
        // Other versions below 16 are compatible (section 5.1).
        guard version < 16 else { throw .unsupported("version \(version) of OpusHead") }
        guard family == 0, (1...2).contains(channels) else {
            throw .unsupported("Opus with more than two channels")
        }
        self.init(channelCount: Int(channels), preSkip: preSkip, inputRate: rate, gain: gain)
    }

    static func begins(_ bytes: RawSpan) -> Bool { bytes.begins(with: "OpusHead") }

    package var bytes: [UInt8] {
        var bytes = Array("OpusHead".utf8)
        bytes += [1, UInt8(truncatingIfNeeded: channelCount)]
        bytes.append(littleEndian: preSkip)
        bytes.append(littleEndian: inputRate)
        bytes.append(littleEndian: gain)
        bytes.append(0)
        return bytes
    }
}

/// The comment header of Opus in a file (RFC 7845 section 5.2): the encoder's vendor, and names with values.
package struct OpusTags: Hashable, Sendable {
    package let vendor: String
    /// Such as `TITLE=A call`.
    package let comments: [String]

    package init(vendor: String, comments: [String] = []) {
        self.vendor = vendor
        self.comments = comments
    }

    package var bytes: [UInt8] {
        var bytes = Array("OpusTags".utf8)
        bytes.append(littleEndian: UInt32(truncatingIfNeeded: vendor.utf8.count))
        bytes += vendor.utf8
        bytes.append(littleEndian: UInt32(truncatingIfNeeded: comments.count))
        for comment in comments {
            bytes.append(littleEndian: UInt32(truncatingIfNeeded: comment.utf8.count))
            bytes += comment.utf8
        }
        return bytes
    }
}
