import Wire

extension VideoCodec {
    /// The size in the sequence header among the first open bitstream units of a packet (AV1 RTP specification, section
    /// 4).
    ///
    ///     |Z|Y| W |N|-|-|-|      W: the number of elements, of which the last has no length; 0: each has one
    static func sizeOfAV1(_ payload: RawSpan) -> PictureSize? {
        guard let first = payload.byte(at: 0), first & 0x80 == 0 else { return nil }
        let count = Int(first >> 4 & 3)
        var offset = 1
        for index in 0..<8 where offset < payload.byteCount {
            var end = payload.byteCount
            if count == 0 || index &+ 1 < count {
                guard let size = payload.variableInteger(at: &offset) else { return nil }
                end = min(end, offset &+ Int(size))
            }
            guard let element = payload.part(min(offset, end)..<end), let header = element.byte(at: 0) else {
                return nil
            }
            if header >> 3 & 15 == 1 {
                var start = header & 4 != 0 ? 2 : 1
                if header & 2 != 0, element.variableInteger(at: &start) == nil { return nil }
                guard let sequence = element.part(min(start, element.byteCount)..<element.byteCount) else { return nil }
                return AV1Sequence.size(sequence)
            }
            offset = end
            if count > 0, index &+ 1 >= count { return nil }
        }
        return nil
    }
}

/// AV1's sequence header (AV1 bitstream specification, section 5.5.1), up to the size of the frames.
enum AV1Sequence {
    static func size(_ header: RawSpan) -> PictureSize? {
        var reader = BitReader(header)
        // The profile and the still picture flag.
        guard reader.skip(4) != nil, let isReduced = reader.flag(),
            isReduced ? reader.skip(5) != nil : skipOperation(&reader) != nil, let widthBits = reader.bits(4),
            let heightBits = reader.bits(4), let width = reader.bits(Int(widthBits) &+ 1),
            let height = reader.bits(Int(heightBits) &+ 1)
        else { return nil }
        return PictureSize(width: width &+ 1, height: height &+ 1)
    }

    /// Timing and operating points.
    private static func skipOperation(_ reader: inout BitReader) -> Void? {
        guard let hasTiming = reader.flag() else { return nil }
        var hasModel = false
        var delayBits = 0
        if hasTiming {
            guard reader.skip(64) != nil, let isEqual = reader.flag(), !isEqual || reader.exponential() != nil,
                let model = reader.flag()
            else { return nil }
            hasModel = model
            if model {
                guard let bits = reader.bits(5), reader.skip(42) != nil else { return nil }
                delayBits = Int(bits) &+ 1
            }
        }
        guard let hasDelay = reader.flag(), let points = reader.bits(5) else { return nil }
        for _ in 0...points {
            guard reader.skip(12) != nil, let level = reader.bits(5), level <= 7 || reader.skip(1) != nil else {
                return nil
            }
            if hasModel {
                guard let isPresent = reader.flag(), !isPresent || reader.skip(2 &* delayBits &+ 1) != nil else {
                    return nil
                }
            }
            if hasDelay {
                guard let isPresent = reader.flag(), !isPresent || reader.skip(4) != nil else { return nil }
            }
        }
        return ()
    }
}

extension RawSpan {
    /// leb128 of at most four bytes; moves the offset past it.
    func variableInteger(at offset: inout Int) -> UInt32? {
        var value: UInt32 = 0
        for index in 0..<4 as Range<UInt32> {
            guard let byte = byte(at: offset) else { return nil }
            offset &+= 1
            value |= UInt32(byte & 0x7F) << (7 &* index)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}
