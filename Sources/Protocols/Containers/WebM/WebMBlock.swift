import Wire

/// A SimpleBlock or Block: frames of one track (RFC 9559 section 10).
///
///     track number (1 to 8) | time relative to the cluster (2, signed) | flags | lacing of the frames | the frames
struct WebMBlock {
    let track: UInt64
    let time: Int16
    /// The ranges of the frames in the file.
    let frames: [Range<Int>]

    init(_ file: RawSpan, _ data: Range<Int>) throws(ContainerError) {
        guard let block = file.part(data), let track = EBMLInteger(block, at: 0),
            let time = block.integer(at: track.byteCount, as: Int16.self),
            let flags = block.byte(at: track.byteCount &+ 2)
        else { throw .malformed("the block ends too early", at: data.lowerBound) }
        self.track = track.value
        self.time = time
        let begin = track.byteCount &+ 3
        guard let lengths = Self.lengths(block, from: begin, lacing: flags >> 1 & 3) else {
            throw .malformed("the frames of the block do not fit", at: data.lowerBound)
        }
        var position = data.upperBound &- lengths.reduce(0, &+)
        frames = lengths.map { length in
            defer { position &+= length }
            return position..<position &+ length
        }
    }

    /// The length of each frame, which together fill the block; nil when they do not fit.
    private static func lengths(_ block: RawSpan, from begin: Int, lacing: UInt8) -> [Int]? {
        let left = block.byteCount &- begin
        guard lacing != 0 else { return [left] }
        guard let last = block.byte(at: begin) else { return nil }
        var lengths: [Int] = []
        var offset = begin &+ 1
        switch lacing {
        case 1:
            for _ in 0..<last {
                var length = 0
                while true {
                    guard let byte = block.byte(at: offset) else { return nil }
                    offset &+= 1
                    length &+= Int(byte)
                    if byte < 255 { break }
                }
                lengths.append(length)
            }
        case 3:
            for index in 0..<Int(last) {
                guard let number = EBMLInteger(block, at: offset) else { return nil }
                offset &+= number.byteCount
                let length = index == 0 ? Int64(clamping: number.value) : Int64(lengths[index &- 1]) &+ number.signed
                guard length >= 0, length <= Int64(left) else { return nil }
                lengths.append(Int(length))
            }
        default:
            let count = Int(last) &+ 1
            let bytes = block.byteCount &- offset
            return bytes % count == 0 ? [Int](repeating: bytes / count, count: count) : nil
        }
        let rest = block.byteCount &- offset &- lengths.reduce(0, &+)
        guard rest >= 0 else { return nil }
        return lengths + [rest]
    }
}
