import Wire

/// Writes Opus into an Ogg file as it comes (RFC 7845): a page for each second at most, so that who is killed loses no
/// more than that.
package struct OggOpusWriter: Sendable {
    /// Samples at 48 kHz.
    private static let longestPage: UInt64 = 48_000
    /// Comments fill pages of their own.
    private static let mostBodyBytes = OggPage.mostSegments * 255

    private let serial: UInt32
    private let head: OpusHead
    private var number: UInt32 = 0
    private var segments: [UInt8] = []
    private var body: [UInt8] = []
    /// The end of the last packet, in samples with the pre-skip.
    private var granule: UInt64 = 0
    private var pageStart: UInt64 = 0
    private var isEnded = false

    /// - Parameter serial: any number that other streams in the same file do not have.
    package init(serial: UInt32, head: OpusHead) {
        self.serial = serial
        self.head = head
    }

    /// What was written so far, without the pre-skip: samples at 48 kHz.
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
            let part = rest.prefix(Self.mostBodyBytes)
            rest = rest.dropFirst(part.count)
            page.segments = Array(Self.lacing(part.count).prefix(OggPage.mostSegments))
            // A full page says nothing of an end, so that of full comments is in the next.
            isContinued = page.segments.last == 255
            page.granule = isContinued ? -1 : 0
            page.write(Array(part), into: &file)
            number &+= 1
        } while isContinued
        return file
    }

    /// Takes a packet of so many samples, and returns the pages that are full.
    package mutating func append(_ packet: ArraySlice<UInt8>, duration: UInt32) -> [UInt8] {
        guard !isEnded else { return [] }
        var file: [UInt8] = []
        let lacing = Self.lacing(packet.count)
        let isLong = granule &+ UInt64(duration) &- pageStart > Self.longestPage
        if !segments.isEmpty, isLong || segments.count &+ lacing.count > OggPage.mostSegments { endPage(into: &file) }
        // More than a page holds is no Opus packet.
        guard lacing.count <= OggPage.mostSegments else { return file }
        segments += lacing
        body += packet
        granule &+= UInt64(duration)
        return file
    }

    /// The page that is not full yet, for who does not want to wait.
    package mutating func flush() -> [UInt8] {
        var file: [UInt8] = []
        if !segments.isEmpty, !isEnded { endPage(into: &file) }
        return file
    }

    /// The last page. Of the last packets so many samples are not to be heard.
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
