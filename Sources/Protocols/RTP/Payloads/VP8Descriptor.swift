import Wire

/// The payload descriptor of VP8 (RFC 7741 section 4.2), and whether a key frame begins.
///
///     |X|R|N|S|R| PID |      required; S and PID 0: the frame begins
///     |I|L|T|K| RSV   |      when X is set
///     |M| PictureID   |      when I is set; a second byte when M is set
///     |   TL0PICIDX   |      when L is set
///     |TID|Y| KEYIDX  |      when T or K is set
package struct VP8Descriptor: Hashable, Sendable {
    package let byteCount: Int
    /// The packet begins a frame.
    package let isStart: Bool
    package let isKeyFrame: Bool
    /// 7 or 15 bits.
    package let pictureID: UInt16?
    package let hasLongPictureID: Bool
    var pictureIDMask: UInt16 { hasLongPictureID ? 0x7FFF : 0x7F }
    package let baseLayerIndex: UInt8?
    package let temporalLayer: UInt8?
    /// A receiver may switch up to this layer here.
    package let isLayerSync: Bool
    private let pictureIDOffset: Int
    private let baseLayerIndexOffset: Int

    /// Nil when the descriptor runs past the end or nothing follows it.
    package init?(_ payload: RawSpan) {
        guard let first = payload.byte(at: 0) else { return nil }
        var offset = 1
        var flags: UInt8 = 0
        if first & 0x80 != 0 {
            guard let extended = payload.byte(at: 1) else { return nil }
            flags = extended
            offset = 2
        }
        pictureIDOffset = offset
        var picture: UInt16?
        var isLong = false
        if flags & 0x80 != 0 {
            guard let byte = payload.byte(at: offset) else { return nil }
            isLong = byte & 0x80 != 0
            if isLong {
                guard let word = payload.integer(at: offset, as: UInt16.self) else { return nil }
                picture = word & 0x7FFF
            } else {
                picture = UInt16(byte)
            }
            offset &+= isLong ? 2 : 1
        }
        pictureID = picture
        hasLongPictureID = isLong
        baseLayerIndexOffset = offset
        if flags & 0x40 != 0 {
            guard let byte = payload.byte(at: offset) else { return nil }
            baseLayerIndex = byte
            offset &+= 1
        } else {
            baseLayerIndex = nil
        }
        if flags & 0x30 != 0 {
            guard let byte = payload.byte(at: offset) else { return nil }
            temporalLayer = flags & 0x20 != 0 ? byte >> 6 : nil
            isLayerSync = flags & 0x20 != 0 && byte & 0x20 != 0
            offset &+= 1
        } else {
            temporalLayer = nil
            isLayerSync = false
        }
        guard let data = payload.byte(at: offset) else { return nil }
        byteCount = offset
        isStart = first & 0x10 != 0 && first & 0x07 == 0
        // RFC 7741 section 4.3: the inverse key frame flag, in the frame's first byte only.
        isKeyFrame = isStart && data & 1 == 0
    }

    /// Replaces the numbers of this descriptor, which keep their width; `payloadOffset` is where the descriptor begins
    /// in `bytes`.
    package func set(
        pictureID picture: UInt16?, baseLayerIndex index: UInt8?, in bytes: inout MutableRawSpan, at payloadOffset: Int
    ) {
        if pictureID != nil, let picture {
            if hasLongPictureID {
                bytes.store(0x8000 | picture, at: payloadOffset &+ pictureIDOffset)
            } else {
                bytes.store(UInt8(truncatingIfNeeded: picture & 0x7F), at: payloadOffset &+ pictureIDOffset)
            }
        }
        if baseLayerIndex != nil, let index {
            bytes.store(index, at: payloadOffset &+ baseLayerIndexOffset)
        }
    }
}
