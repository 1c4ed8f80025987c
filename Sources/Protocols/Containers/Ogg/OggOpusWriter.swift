import Wire

/// Writes Opus into an Ogg file incrementally (RFC 7845), in pages of at most a second, so that a process that is
/// killed loses no more than that.
package struct OggOpusWriter: Sendable {
    /// Samples at 48 kHz.
    private static let maximumPageSamples: UInt64 = 48_000
    /// Of a full page of comments.
    private static let maximumBodyByteCount = OggPage.maximumSegments * 255

    private let serial: UInt32
    private let head: OpusHead
    private var number: UInt32 = 0
    private var segments: [UInt8] = []
    private var body: [UInt8] = []
    /// The end of the last packet, in samples with the pre-skip.
    private var granule: UInt64 = 0
    private var pageStart: UInt64 = 0
    private var isEnded = false

    /// - Parameter serial: unique among the streams of the file.
    package init(serial: UInt32, head: OpusHead) {
        self.serial = serial
        self.head = head
    }

    /// The samples at 48 kHz that were written so far, without the pre-skip.
    package var sampleCount: UInt64 { granule > UInt64(head.preSkip) ? granule &- UInt64(head.preSkip) : 0 }

    /// The beginning of the file.
    package mutating func begin(_ tags: OpusTags) -> [UInt8] {
        var file: [UInt8] = []
        var first = OggPage(serial: serial, number: number)
        first.isFirst = true
        first.granule = 0
        let bytes = head.bytes
        first.segments = [UInt8(bytes.count)]
        first.write(bytes, into: &file)
        number &+= 1
        var rest = tags.bytes[...]
        var isContinued = false
        repeat {
            var page = OggPage(serial: serial, number: number)
            page.isContinued = isContinued
            let part = rest.prefix(Self.maximumBodyByteCount)
            rest = rest.dropFirst(part.count)
            page.segments = Array(Self.lacing(part.count).prefix(OggPage.maximumSegments))
            // Lacing of 255 means that the packet continues, so the end of comments that fill a page is in the next.
            isContinued = page.segments.last == 255
            page.granule = isContinued ? -1 : 0
            page.write(Array(part), into: &file)
            number &+= 1
        } while isContinued
        return file
    }

    /// Appends a packet of so many samples, and returns the pages that are full.
    package mutating func append(_ packet: ArraySlice<UInt8>, duration: UInt32) -> [UInt8] {
        guard !isEnded else { return [] }
        var file: [UInt8] = []
        let lacing = Self.lacing(packet.count)
        let isLong = granule &+ UInt64(duration) &- pageStart > Self.maximumPageSamples
        if !segments.isEmpty, isLong || segments.count &+ lacing.count > OggPage.maximumSegments {
            endPage(into: &file)
        }
        // No Opus packet is larger than a page.
        guard lacing.count <= OggPage.maximumSegments else { return file }
        segments += lacing
        body += packet
        granule &+= UInt64(duration)
        return file
    }

    /// Ends the current page before it is full, to bound the delay.
    package mutating func flush() -> [UInt8] {
        var file: [UInt8] = []
        if !segments.isEmpty, !isEnded { endPage(into: &file) }
        return file
    }

    /// The last page. So many samples at the end of the last packets are trimmed.
    package mutating func end(leavingOut samples: UInt64 = 0) -> [UInt8] {
        guard !isEnded else { return [] }
        var file: [UInt8] = []
        granule &-= min(samples, granule)
        endPage(isLast: true, into: &file)
        isEnded = true
        return file
    }

    private mutating func endPage(isLast: Bool = false, into file: inout [UInt8]) {
        var page = OggPage(serial: serial, number: number)
        page.isLast = isLast
        page.granule = Int64(clamping: granule)
        page.segments = segments
        page.write(body, into: &file)
        number &+= 1
        segments.removeAll(keepingCapacity: true)
        body.removeAll(keepingCapacity: true)
        pageStart = granule
    }

    /// The lengths of the segments of a packet: a multiple of 255 ends with an empty one.
    private static func lacing(_ byteCount: Int) -> [UInt8] {
        [UInt8](repeating: 255, count: byteCount / 255) + [UInt8(byteCount % 255)]
    }
}
