import RTP
import Wire

/// Reads Opus from an Ogg file (RFC 7845): its first Opus stream.
///
/// A file whose end is missing or damaged is read up to there, and marked as truncated: a recording whose writer was
/// killed lacks only its last page. A page that is marked as the last and is not, as the pages before a pause in files of
/// Telegram's clients, ends nothing.
package enum OggOpusReader {
    /// Comments may contain a cover image; longer ones are rejected.
    private static let maximumTagByteCount = 1 << 20
    /// Of one packet: 120 ms of the highest rate (RFC 7845 section 6).
    private static let maximumPacketByteCount = 61_440

    package static func begins(_ file: RawSpan) -> Bool { OggPage.begins(file) }

    package static func read(_ file: RawSpan, limit: OpusLimit) throws(ContainerError) -> OpusTrack {
        var offset = 0
        let first = try findHead(file, &offset)
        var state = Stream(track: OpusTrack(first.head), serial: first.serial, limit: limit, number: first.number)
        while offset < file.byteCount {
            let page: OggPage
            do {
                page = try OggPage(file, at: offset)
            } catch {
                // What follows the last page is no matter.
                if state.hasLastPage { break }
                // The first damaged page ends the file, but an unsupported one is an error.
                guard case .malformed = error, state.hasTags else { throw error }
                break
            }
            // Of chained streams (RFC 3533 section 4) only the first would be read.
            guard !page.isFirst || !state.hasLastPage else { throw .unsupported("a second stream after the first") }
            if page.serial == state.serial { try state.read(page, file, at: offset) }
            offset &+= page.byteCount
        }
        guard state.hasTags else { throw .malformed("the file ends before its audio", at: offset) }
        return state.finish()
    }

    /// The first pages of all streams come first (RFC 3533 section 4).
    private static func findHead(
        _ file: RawSpan, _ offset: inout Int
    ) throws(ContainerError) -> (head: OpusHead, serial: UInt32, number: UInt32) {
        while true {
            let page = try OggPage(file, at: offset)
            guard page.isFirst else { throw .noOpus }
            let body = offset &+ page.bodyOffset
            offset &+= page.byteCount
            guard let bytes = file.part(body..<offset) else { throw .noOpus }
            if OpusHead.begins(bytes) { return (try OpusHead(bytes, at: body), page.serial, page.number) }
        }
    }

    /// The Opus stream, read page by page.
    struct Stream {
        var track: OpusTrack
        let serial: UInt32
        let limit: OpusLimit
        var number: UInt32
        var hasTags = false
        /// Bytes of comments that were skipped so far.
        var tagByteCount = 0
        /// Samples of all packets so far.
        var end: UInt64 = 0
        /// The start of the first packet, which is not 0 where a live stream was joined late (RFC 7845 section 4.3).
        var begin: UInt64?
        var lastGranule: UInt64?
        /// Whether the last page that was read is marked as the last.
        var hasLastPage = false

        mutating func read(_ page: OggPage, _ file: RawSpan, at offset: Int) throws(ContainerError) {
            guard !page.isFirst else { throw .unsupported("a second stream after the first") }
            guard page.number == number &+ 1 else { throw .malformed("an Ogg page is missing", at: offset) }
            number = page.number
            if !page.isContinued { track.dropPending() }
            var position = offset &+ page.bodyOffset
            // The end of a packet whose beginning is missing.
            var isLost = page.isContinued && track.pendingByteCount == 0 && hasTags
            for segment in page.segments {
                let next = position &+ Int(segment)
                guard let fragment = file.part(position..<next) else {
                    throw .malformed("the Ogg page ends too early", at: position)
                }
                position = next
                let isEnd = segment < 255
                if !hasTags {
                    try skipTags(fragment, isEnd: isEnd, at: offset)
                } else if !isLost {
                    track.appendFragment(fragment)
                    guard track.pendingByteCount <= maximumPacketByteCount else {
                        throw .malformed("the Opus packet is too long", at: position)
                    }
                    if isEnd { try endPacket(at: position) }
                }
                if isEnd { isLost = false }
            }
            try note(page.granule, at: offset)
            hasLastPage = page.isLast
        }

        private mutating func skipTags(_ fragment: RawSpan, isEnd: Bool, at offset: Int) throws(ContainerError) {
            if tagByteCount == 0, !fragment.begins(with: "OpusTags") {
                throw .malformed("there are no OpusTags", at: offset)
            }
            tagByteCount &+= fragment.byteCount
            guard tagByteCount <= maximumTagByteCount else { throw .malformed("the OpusTags are too long", at: offset) }
            hasTags = isEnd
        }

        private mutating func endPacket(at position: Int) throws(ContainerError) {
            let pending = Array(track.pending.prefix(2))
            guard !pending.isEmpty, let payload = OpusPayload(pending.span.bytes) else {
                // An empty packet is ignored.
                guard pending.isEmpty else { throw .malformed("this is not an Opus packet", at: position) }
                return
            }
            track.endPacket(start: end, duration: payload.duration)
            end &+= UInt64(payload.duration)
            try track.check(limit, end: end)
        }

        private mutating func note(_ granule: Int64, at offset: Int) throws(ContainerError) {
            guard granule >= 0, hasTags, end > 0 else { return }
            let granule = UInt64(granule)
            // Only the first page may begin later than at 0; one with a granule position before the end of its packets
            // must be the last page too.
            let begin = begin ?? (granule > end ? granule &- end : 0)
            self.begin = begin
            guard granule >= begin, granule >= lastGranule ?? 0 else {
                throw .malformed("time goes back", at: offset)
            }
            lastGranule = granule
        }

        /// The samples without the pre-skip.
        var sampleCount: UInt64 {
            let granuleEnd = lastGranule.map { $0 &- (begin ?? 0) } ?? end
            // Only the last page may end before its packets do.
            let audible = hasLastPage ? min(granuleEnd, end) : end
            return audible > UInt64(track.head.preSkip) ? audible &- UInt64(track.head.preSkip) : 0
        }

        mutating func finish() -> OpusTrack {
            track.dropPending()
            track.isTruncated = !hasLastPage
            track.sampleCount = sampleCount
            return track
        }
    }
}
