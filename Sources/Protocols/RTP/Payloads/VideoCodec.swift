import Wire

/// The video codecs that are forwarded, and how to detect the start of a key frame: only there may a slot switch.
package enum VideoCodec: UInt8, CaseIterable, Hashable, Sendable {
    case vp8
    case vp9
    case h264
    case av1

    /// True for the first packet of a key frame. For AV1 the dependency descriptor is used, when there is one.
    package func beginsKeyFrame(_ payload: RawSpan, dependencyDescriptor: RawSpan? = nil) -> Bool {
        switch self {
        case .vp8: VP8Descriptor(payload)?.isKeyFrame ?? false
        case .vp9: Self.vp9BeginsKeyFrame(payload)
        case .h264: Self.h264BeginsKeyFrame(payload)
        case .av1:
            if let dependencyDescriptor {
                DependencyDescriptor(dependencyDescriptor)?.beginsKeyFrame ?? false
            } else {
                Self.av1BeginsSequence(payload)
            }
        }
    }

    ///     |I|P|L|F|B|E|V|Z|      RFC 9628 section 4.2
    ///     |M| PICTURE ID  |      when I is set; a second byte when M is set
    ///     | TID |U| SID |D|      when L is set
    ///
    /// Begins a frame (B), predicted from no other picture (P), on the lowest spatial layer.
    private static func vp9BeginsKeyFrame(_ payload: RawSpan) -> Bool {
        guard let first = payload.byte(at: 0), first & 0x40 == 0, first & 0x08 != 0 else { return false }
        guard first & 0x20 != 0 else { return true }
        var offset = 1
        if first & 0x80 != 0 {
            guard let picture = payload.byte(at: 1) else { return false }
            offset = picture & 0x80 != 0 ? 3 : 2
        }
        guard let layers = payload.byte(at: offset) else { return false }
        return layers >> 1 & 7 == 0
    }

    /// RFC 6184 section 5.2: a parameter set or an IDR slice, alone, among others (STAP-A, type 24), or its first
    /// fragment (FU-A, type 28). Encoders send the parameter sets right before the slice.
    private static func h264BeginsKeyFrame(_ payload: RawSpan) -> Bool {
        func begins(_ unit: UInt8) -> Bool { unit & 31 == 5 || unit & 31 == 7 }
        guard let first = payload.byte(at: 0) else { return false }
        switch first & 31 {
        case 24:
            var offset = 1
            while let size = payload.integer(at: offset, as: UInt16.self), let unit = payload.byte(at: offset &+ 2),
                size > 0
            {
                if begins(unit) { return true }
                offset &+= 2 &+ Int(size)
            }
            return false
        case 28:
            guard let fragment = payload.byte(at: 1) else { return false }
            return fragment & 0x80 != 0 && begins(fragment)
        default:
            return begins(first)
        }
    }

    /// The aggregation header's N bit (AV1 RTP specification, section 4.4): the first packet of a coded video sequence.
    ///
    ///     |Z|Y| W |N|-|-|-|
    private static func av1BeginsSequence(_ payload: RawSpan) -> Bool {
        guard let first = payload.byte(at: 0), payload.byteCount > 1 else { return false }
        return first & 0x80 == 0 && first & 0x08 != 0
    }
}

/// The beginning of the dependency descriptor (AV1 RTP specification, appendix A.8.2): enough to detect AV1's key
/// frames and to renumber the frames of any codec that uses it.
///
///     |S|E| template  |          frame number         |T| …      three bytes, and T with more
package struct DependencyDescriptor: Hashable, Sendable {
    package let beginsFrame: Bool
    package let endsFrame: Bool
    package let frameNumber: UInt16
    /// It contains the template structure that later frames refer to, as it does for key frames.
    package let hasStructure: Bool

    package static let frameNumberOffset = 1

    package init?(_ value: RawSpan) {
        guard let first = value.byte(at: 0), let number = value.integer(at: Self.frameNumberOffset, as: UInt16.self)
        else { return nil }
        beginsFrame = first & 0x80 != 0
        endsFrame = first & 0x40 != 0
        frameNumber = number
        hasStructure = (value.byte(at: 3) ?? 0) & 0x80 != 0
    }

    package var beginsKeyFrame: Bool { beginsFrame && hasStructure }
}
