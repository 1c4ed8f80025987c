import Wire

/// The encodings that a publisher sends, and their sizes: video-layers-allocation00, an extension of libwebrtc.
///
///     |RID| NS| sl_bm |      the encoding it came on; encodings, minus one; spatial layers, if the same for all
///     |sl0_bm |sl1_bm | …    or 0, and then four bits for each encoding
///     |#tl|#tl|#tl|#tl| …    two bits for each spatial layer: temporal layers, minus one
///     rates in kbit/s, leb128, of each temporal layer
///     width - 1, 16 bits; height - 1, 16 bits; frames a second, 8 bits: for each spatial layer, or left out
package struct LayersAllocation: Hashable, Sendable {
    /// The largest picture of each encoding, in the order of the offer; nil for one that is not sent.
    package let sizes: [PictureSize?]

    /// Nil when it is malformed or contains no sizes.
    package init?(_ value: RawSpan) {
        guard let first = value.byte(at: 0), value.byteCount > 1 else { return nil }
        let count = Int(first >> 4 & 3) &+ 1
        var offset = 1
        var masks = [UInt8](repeating: first & 15, count: count)
        if first & 15 == 0 {
            for index in 0..<count {
                guard let byte = value.byte(at: offset &+ index / 2) else { return nil }
                masks[index] = index & 1 == 0 ? byte >> 4 : byte & 15
            }
            offset &+= (count &+ 1) / 2
        }
        let layers = masks.reduce(0) { $0 &+ $1.nonzeroBitCount }
        var rates = 0
        for index in 0..<layers {
            guard let byte = value.byte(at: offset &+ index / 4) else { return nil }
            rates &+= Int(byte >> UInt8(6 &- index % 4 &* 2) & 3) &+ 1
        }
        offset &+= (layers &+ 3) / 4
        for _ in 0..<rates where value.variableInteger(at: &offset) == nil { return nil }
        guard layers > 0, value.byteCount &- offset >= layers &* 5 else { return nil }
        var sizes: [PictureSize?] = []
        for mask in masks {
            var largest: PictureSize?
            for _ in 0..<mask.nonzeroBitCount {
                guard let width = value.integer(at: offset, as: UInt16.self),
                    let height = value.integer(at: offset &+ 2, as: UInt16.self)
                else { return nil }
                offset &+= 5
                let size = PictureSize(width: UInt32(width) &+ 1, height: UInt32(height) &+ 1)
                if size.pixelCount > largest?.pixelCount ?? 0 { largest = size }
            }
            sizes.append(largest)
        }
        self.sizes = sizes
    }
}
