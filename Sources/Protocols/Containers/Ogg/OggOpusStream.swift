import Wire

/// Reads Opus from an Ogg file as its bytes come: however long it is, no more than a page of it is held.
///
/// It takes what `OggOpusReader` takes, and its packets are the same. Where that says that the file is cut off, this one
/// has no next page.
package struct OggOpusStream: Sendable {
    /// A packet, and the samples at 48 kHz that it stands for.
    package struct Packet: Hashable, Sendable {
        package let bytes: [UInt8]
        package let duration: UInt32
    }

    private let limit: OpusLimit
    /// What came and belongs to no page that was read.
    private var waiting: [UInt8] = []
    /// In `waiting`.
    private var offset = 0
    private var state: OggOpusReader.Stream?
    private var isDamaged = false
    /// How many samples are heard in all, without the pre-skip; known with the packets of the last page.
    package private(set) var sampleCount: UInt64?

    package init(limit: OpusLimit) {
        self.limit = limit
    }

    /// Known with the first packet.
    package var head: OpusHead? { state?.track.head }

    /// What comes next in the file.
    package mutating func append(_ bytes: [UInt8]) {
        waiting.removeFirst(offset)
        offset = 0
        guard sampleCount == nil, !isDamaged else { return }
        waiting += bytes
    }

    /// The packets that end in the next page of the stream, in order; nil when more has to come first, or nothing does.
    package mutating func nextPage() throws(ContainerError) -> [Packet]? {
        while sampleCount == nil, !isDamaged {
            guard let page = try page() else { return nil }
            let start = offset
            offset &+= page.byteCount
            guard var state = self.state else {
                try begin(page, at: start)
                continue
            }
            guard page.serial == state.serial else { continue }
            // Not shared meanwhile: what it holds would be copied.
            self.state = nil
            do {
                let goesOn = try state.read(page, waiting.span.bytes, at: start)
                if !goesOn { sampleCount = state.finish(isCutOff: false).sampleCount }
            } catch {
                isDamaged = true
                throw error
            }
            let packets = state.track.takePackets()
            self.state = state
            return packets
        }
        return nil
    }

    /// The page that is next, when all of it is there.
    private mutating func page() throws(ContainerError) -> OggPage? {
        let rest = waiting.count &- offset
        let table = offset &+ OggPage.headerByteCount
        guard rest >= OggPage.headerByteCount else { return nil }
        let segments = waiting[table...].prefix(Int(waiting[table &- 1]))
        let length = segments.reduce(OggPage.headerByteCount &+ segments.count) { $0 &+ Int($1) }
        do {
            guard rest >= length, segments.count == Int(waiting[table &- 1]) else { return nil }
            return try OggPage(waiting.span.bytes, at: offset)
        } catch {
            guard case .malformed = error, state?.hasTags == true else { throw error }
            isDamaged = true
            return nil
        }
    }

    /// The first pages of all streams come first (RFC 3533 section 4).
    private mutating func begin(_ page: OggPage, at start: Int) throws(ContainerError) {
        guard page.isFirst else { throw .noOpus }
        guard let head = try Self.head(waiting.span.bytes, (start &+ page.bodyOffset)..<offset) else { return }
        state = OggOpusReader.Stream(track: OpusTrack(head), serial: page.serial, limit: limit, number: page.number)
    }

    private static func head(_ file: RawSpan, _ body: Range<Int>) throws(ContainerError) -> OpusHead? {
        guard let bytes = file.part(body), OpusHead.begins(bytes) else { return nil }
        return try OpusHead(bytes, at: body.lowerBound)
    }
}
