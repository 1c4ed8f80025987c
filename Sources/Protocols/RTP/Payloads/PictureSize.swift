import Wire

/// The size of a frame in pixels.
package struct PictureSize: Hashable, Sendable {
    package let width: UInt32
    package let height: UInt32

    package init(width: UInt32, height: UInt32) {
        self.width = width
        self.height = height
    }

    package var pixelCount: UInt64 { UInt64(width) &* UInt64(height) }
}

extension VideoCodec {
    /// The size in the first packet of a key frame; nil when there is none or it cannot be parsed.
    package func pictureSize(_ payload: RawSpan) -> PictureSize? {
        switch self {
        case .vp8: Self.sizeOfVP8(payload)
        case .vp9: Self.sizeOfVP9(payload)
        case .h264: Self.sizeOfH264(payload)
        case .av1: Self.sizeOfAV1(payload)
        }
    }

    /// RFC 6386 section 9.1: three bytes, a start code, and two sizes of 14 bits with two bits of scaling,
    /// little-endian.
    private static func sizeOfVP8(_ payload: RawSpan) -> PictureSize? {
        guard let descriptor = VP8Descriptor(payload), descriptor.isKeyFrame,
            let code = payload.integer(at: descriptor.byteCount &+ 2, as: UInt32.self), code & 0xFF_FFFF == 0x9D012A,
            let width = payload.integer(at: descriptor.byteCount &+ 6, as: UInt16.self),
            let height = payload.integer(at: descriptor.byteCount &+ 8, as: UInt16.self)
        else { return nil }
        return PictureSize(
            width: UInt32(width.byteSwapped & 0x3FFF), height: UInt32(height.byteSwapped & 0x3FFF))
    }

    /// RFC 9628 section 4.2: from the scalability structure, or else from the frame's header.
    private static func sizeOfVP9(_ payload: RawSpan) -> PictureSize? {
        guard let first = payload.byte(at: 0), first & 0x48 == 0x08 else { return nil }
        var offset = 1
        if first & 0x80 != 0 {
            guard let picture = payload.byte(at: offset) else { return nil }
            offset &+= picture & 0x80 != 0 ? 2 : 1
        }
        // TID, U, SID, D; and TL0PICIDX in the non-flexible mode.
        if first & 0x20 != 0 { offset &+= first & 0x10 != 0 ? 1 : 2 }
        if first & 0x02 != 0 {
            guard let structure = payload.byte(at: offset) else { return nil }
            offset &+= 1
            if structure & 0x10 != 0 {
                // The highest spatial layer is the last.
                let last = offset &+ Int(structure >> 5) &* 4
                guard let width = payload.integer(at: last, as: UInt16.self),
                    let height = payload.integer(at: last &+ 2, as: UInt16.self)
                else { return nil }
                return PictureSize(width: UInt32(width), height: UInt32(height))
            }
            if structure & 0x08 != 0 {
                guard let count = payload.byte(at: offset) else { return nil }
                offset &+= 1
                for _ in 0..<count {
                    guard let picture = payload.byte(at: offset) else { return nil }
                    offset &+= 1 &+ Int(picture >> 2 & 3)
                }
            }
        }
        guard let frame = payload.part(min(offset, payload.byteCount)..<payload.byteCount) else { return nil }
        return sizeOfVP9Frame(frame)
    }

    /// The uncompressed header of a key frame (VP9 bitstream specification, section 6.2).
    private static func sizeOfVP9Frame(_ frame: RawSpan) -> PictureSize? {
        var reader = BitReader(frame)
        guard reader.bits(2) == 2, let low = reader.bits(1), let high = reader.bits(1) else { return nil }
        let profile = high << 1 | low
        // A reserved bit of profile 3; not show_existing_frame; a key frame; two flags; the sync code.
        guard profile < 3 || reader.flag() == false, reader.flag() == false, reader.flag() == false,
            reader.skip(2) != nil, reader.bits(24) == 0x498342, profile < 2 || reader.skip(1) != nil,
            let colors = reader.bits(3)
        else { return nil }
        let isSubsampled = profile & 1 == 0
        let more = colors == 7 ? (isSubsampled ? 0 : 1) : (isSubsampled ? 1 : 4)
        guard reader.skip(more) != nil, let width = reader.bits(16), let height = reader.bits(16) else { return nil }
        return PictureSize(width: width &+ 1, height: height &+ 1)
    }

    /// RFC 6184 section 5.2: the sequence parameter set, alone or among others (STAP-A, type 24).
    private static func sizeOfH264(_ payload: RawSpan) -> PictureSize? {
        guard let first = payload.byte(at: 0) else { return nil }
        if first & 31 == 7 { return SequenceParameterSet.size(payload) }
        guard first & 31 == 24 else { return nil }
        var offset = 1
        while let size = payload.integer(at: offset, as: UInt16.self), size > 0,
            let unit = payload.part(min(offset &+ 2, payload.byteCount)..<offset &+ 2 &+ Int(size))
        {
            if (unit.byte(at: 0) ?? 0) & 31 == 7 { return SequenceParameterSet.size(unit) }
            offset &+= 2 &+ Int(size)
        }
        return nil
    }
}

/// H.264's sequence parameter set (ITU-T H.264 section 7.3.2.1.1), up to the size of the frames.
enum SequenceParameterSet {
    /// The values of `profile_idc` with a chroma format.
    private static let high: Set<UInt32> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    static func size(_ unit: RawSpan) -> PictureSize? {
        var reader = BitReader(unit: unit)
        guard reader.skip(8) != nil, let profile = reader.bits(8), reader.skip(16) != nil, reader.exponential() != nil,
            !high.contains(profile) || skipChroma(&reader) != nil, reader.exponential() != nil,
            skipOrder(&reader) != nil, reader.exponential() != nil, reader.skip(1) != nil,
            let columns = reader.exponential(), let rows = reader.exponential(), columns < 1024, rows < 1024,
            let isProgressive = reader.flag(), isProgressive || reader.skip(1) != nil, reader.skip(1) != nil,
            let isCropped = reader.flag()
        else { return nil }
        var width = (columns &+ 1) &* 16
        let scale: UInt32 = isProgressive ? 1 : 2
        var height = (rows &+ 1) &* 16 &* scale
        if isCropped {
            guard let left = reader.exponential(), let right = reader.exponential(), let top = reader.exponential(),
                let bottom = reader.exponential(), max(left, right, top, bottom) < 1024
            else { return nil }
            width = width > (left &+ right) &* 2 ? width &- (left &+ right) &* 2 : 0
            height = height > (top &+ bottom) &* 2 &* scale ? height &- (top &+ bottom) &* 2 &* scale : 0
        }
        return PictureSize(width: width, height: height)
    }

    private static func skipChroma(_ reader: inout BitReader) -> Void? {
        guard let format = reader.exponential(), format != 3 || reader.skip(1) != nil, reader.exponential() != nil,
            reader.exponential() != nil, reader.skip(1) != nil, let hasMatrices = reader.flag()
        else { return nil }
        guard hasMatrices else { return () }
        for list in 0..<(format == 3 ? 12 : 8) {
            guard let isPresent = reader.flag() else { return nil }
            guard isPresent else { continue }
            var (last, next) = (Int32(8), Int32(8))
            for _ in 0..<(list < 6 ? 16 : 64) {
                if next != 0 {
                    guard let delta = reader.signedExponential() else { return nil }
                    next = (last &+ delta) & 255
                }
                last = next == 0 ? last : next
            }
        }
        return ()
    }

    /// The picture order count.
    private static func skipOrder(_ reader: inout BitReader) -> Void? {
        guard let kind = reader.exponential() else { return nil }
        if kind == 0 { return reader.exponential().map { _ in () } }
        guard kind == 1 else { return () }
        guard reader.skip(1) != nil, reader.exponential() != nil, reader.exponential() != nil,
            let count = reader.exponential(), count < 256
        else { return nil }
        for _ in 0..<count where reader.exponential() == nil { return nil }
        return ()
    }
}
