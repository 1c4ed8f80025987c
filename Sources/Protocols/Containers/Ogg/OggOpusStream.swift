import Wire

/// Reads Opus from an Ogg file incrementally: however long the file is, at most a page is in memory.
///
/// It accepts the same files as `OggOpusReader` and returns the same packets. Where that marks the file as truncated,
/// this one has no next page.
package struct OggOpusStream: Sendable {
    /// A packet, and its duration in samples at 48 kHz.
    package struct Packet: Hashable, Sendable {
        package let bytes: [UInt8]
        package let duration: UInt32
    }

    private let limit: OpusLimit
    /// Bytes from the last page that was read.
    private var buffer: [UInt8] = []
    /// Of the next page, in `buffer`.
    private var offset = 0
    private var state: OggOpusReader.Stream?
    /// Nothing is read any more.
    private var hasEnded = false
    /// The number of audible samples, without the pre-skip; known after a page that is marked as the last, until another
    /// page of the stream follows.
    package private(set) var sampleCount: UInt64?

    package init(limit: OpusLimit) {
        self.limit = limit
    }

    /// Known when the first packet is.
    package var head: OpusHead? { state?.track.head }

    /// Appends the next bytes of the file.
    package mutating func append(_ bytes: [UInt8]) {
        buffer.removeFirst(offset)
        offset = 0
        guard !hasEnded else { return }
        buffer += bytes
    }

    /// The packets that end in the next page of the stream, in order; nil when more bytes are needed, or after the end.
    package mutating func nextPage() throws(ContainerError) -> [Packet]? {
        while !hasEnded {
            guard let page = try page() else { return nil }
            let start = offset
            offset &+= page.byteCount
            guard var state = self.state else {
                try begin(page, at: start)
                continue
            }
            if page.isFirst, state.hasLastPage {
                // Another stream; it is none of this one.
                hasEnded = true
                return nil
            }
            guard page.serial == state.serial else { continue }
            // Cleared meanwhile, so that the buffers are not copied on write.
            self.state = nil
            do {
                try state.read(page, buffer.span.bytes, at: start)
                sampleCount = state.hasLastPage ? state.sampleCount : nil
            } catch {
                hasEnded = true
                throw error
            }
            let packets = state.track.takePackets()
            self.state = state
            return packets
        }
        return nil
    }

    /// The next page, when it is complete.
    private mutating func page() throws(ContainerError) -> OggPage? {
        let rest = buffer.count &- offset
        let table = offset &+ OggPage.headerByteCount
        guard rest >= OggPage.headerByteCount else { return nil }
        let segments = buffer[table...].prefix(Int(buffer[table &- 1]))
        let length = segments.reduce(OggPage.headerByteCount &+ segments.count) { $0 &+ Int($1) }
        do {
            guard rest >= length, segments.count == Int(buffer[table &- 1]) else { return nil }
            return try OggPage(buffer.span.bytes, at: offset)
        } catch {
            guard case .malformed = error, state?.hasTags == true else { throw error }
            hasEnded = true
            return nil
        }
    }

    /// The first pages of all streams come first (RFC 3533 section 4).
    private mutating func begin(_ page: OggPage, at start: Int) throws(ContainerError) {
        guard page.isFirst else { throw .noOpus }
        guard let head = try Self.head(buffer.span.bytes, (start &+ page.bodyOffset)..<offset) else { return }
        state = OggOpusReader.Stream(track: OpusTrack(head), serial: page.serial, limit: limit, number: page.number)
    }

    private static func head(_ file: RawSpan, _ body: Range<Int>) throws(ContainerError) -> OpusHead? {
        guard let bytes = file.part(body), OpusHead.begins(bytes) else { return nil }
        return try OpusHead(bytes, at: body.lowerBound)
    }
}
