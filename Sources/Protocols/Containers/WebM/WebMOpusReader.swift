import RTP
import Wire

/// Reads Opus from a WebM or Matroska file (RFC 9559), such as those of a browser's `MediaRecorder`: its first Opus
/// track.
///
/// The length of master elements is ignored, since live writers do not know it. A file that ends in the middle of an
/// element is read up to there.
package enum WebMOpusReader {
    private enum ID {
        static let header: UInt32 = 0x1A45_DFA3
        static let documentType: UInt32 = 0x4282
        static let segment: UInt32 = 0x1853_8067
        static let information: UInt32 = 0x1549_A966
        static let timestampScale: UInt32 = 0x2AD7B1
        static let tracks: UInt32 = 0x1654_AE6B
        static let trackEntry: UInt32 = 0xAE
        static let trackNumber: UInt32 = 0xD7
        static let codec: UInt32 = 0x86
        static let codecPrivate: UInt32 = 0x63A2
        static let contentEncodings: UInt32 = 0x6D80
        static let cluster: UInt32 = 0x1F43_B675
        static let timestamp: UInt32 = 0xE7
        static let blockGroup: UInt32 = 0xA0
        static let simpleBlock: UInt32 = 0xA3
        static let block: UInt32 = 0xA1
        static let discardPadding: UInt32 = 0x75A2

        static func isMaster(_ id: UInt32) -> Bool {
            [header, segment, information, tracks, trackEntry, cluster, blockGroup].contains(id)
        }
    }

    /// A packet that starts within this time of the end of the previous one continues it: times are whole milliseconds,
    /// and recorders round them.
    private static let tolerance: UInt64 = 48 * 30

    package static func begins(_ file: RawSpan) -> Bool { file.integer(at: 0, as: UInt32.self) == ID.header }

    package static func read(_ file: RawSpan, limit: OpusLimit) throws(ContainerError) -> OpusTrack {
        var state = State(limit: limit)
        var offset = 0
        while offset < file.byteCount {
            let element: EBMLElement
            do throws(ContainerError) {
                element = try EBMLElement(file, at: offset)
                guard !element.isTruncated || ID.isMaster(element.id) else {
                    throw ContainerError.malformed("the file ends too early", at: offset)
                }
            } catch {
                guard state.track != nil else { throw error }
                return try state.finish(isTruncated: true)
            }
            try state.read(element, file)
            offset = ID.isMaster(element.id) ? element.data.lowerBound : element.data.upperBound
        }
        return try state.finish(isTruncated: false)
    }

    private struct Candidate {
        var number: UInt64 = 0
        var isOpus = false
        var head: OpusHead?
        var isEncoded = false
    }

    private struct State {
        let limit: OpusLimit
        var track: OpusTrack?
        private var candidates: [Candidate] = []
        private var number: UInt64 = 0
        /// Nanoseconds per unit of time.
        private var scale: UInt64 = 1_000_000
        private var clusterTime: UInt64 = 0
        private var begin: Int64?
        private var padding: UInt64 = 0

        init(limit: OpusLimit) {
            self.limit = limit
        }

        mutating func read(_ element: EBMLElement, _ file: RawSpan) throws(ContainerError) {
            switch element.id {
            case ID.documentType:
                guard let name = file.part(element.data), name.begins(with: "webm") || name.begins(with: "matroska")
                else { throw .unsupported("an EBML file that is not WebM") }
            case ID.timestampScale:
                scale = min(max(try unsigned(element, file), 1), 1_000_000_000)
            case ID.trackEntry where track == nil:
                candidates.append(Candidate())
            case ID.trackNumber, ID.codec, ID.codecPrivate, ID.contentEncodings:
                try readTrack(element, file)
            case ID.cluster:
                if track == nil { try choose(at: element.data.lowerBound) }
            case ID.timestamp:
                clusterTime = try unsigned(element, file)
            case ID.simpleBlock, ID.block:
                try readBlock(element, file)
            case ID.discardPadding:
                try readPadding(element, file)
            default: break
            }
        }

        private func unsigned(_ element: EBMLElement, _ file: RawSpan) throws(ContainerError) -> UInt64 {
            guard let value = file.ebmlUnsigned(element.data) else {
                throw .malformed("this is not an integer", at: element.data.lowerBound)
            }
            return value
        }

        private mutating func readTrack(_ element: EBMLElement, _ file: RawSpan) throws(ContainerError) {
            guard track == nil, !candidates.isEmpty else { return }
            let last = candidates.count &- 1
            switch element.id {
            case ID.trackNumber: candidates[last].number = try unsigned(element, file)
            case ID.codec:
                candidates[last].isOpus = file.part(element.data)?.begins(with: "A_OPUS") ?? false
            case ID.codecPrivate:
                guard let bytes = file.part(element.data), OpusHead.begins(bytes) else { return }
                candidates[last].head = try OpusHead(bytes, at: element.data.lowerBound)
            default: candidates[last].isEncoded = true
            }
        }

        private mutating func choose(at offset: Int) throws(ContainerError) {
            guard let found = candidates.first(where: \.isOpus) else { throw .noOpus }
            guard !found.isEncoded else { throw .unsupported("compressed or encrypted audio in WebM") }
            guard let head = found.head else { throw .malformed("there is no OpusHead", at: offset) }
            number = found.number
            track = OpusTrack(head)
        }

        private mutating func readBlock(_ element: EBMLElement, _ file: RawSpan) throws(ContainerError) {
            guard track != nil else { return }
            let block = try WebMBlock(file, element.data)
            guard block.track == number else { return }
            padding = 0
            var start = try start(of: block, at: element.data.lowerBound)
            for frame in block.frames where !frame.isEmpty {
                guard let bytes = file.part(frame), let payload = OpusPayload(bytes) else {
                    throw .malformed("this is not an Opus packet", at: frame.lowerBound)
                }
                track?.append(bytes, start: start, duration: payload.duration)
                start &+= UInt64(payload.duration)
                try track?.check(limit, end: start)
            }
        }

        /// In samples since the first block. A block that starts before the end of its predecessor begins there.
        private mutating func start(of block: WebMBlock, at offset: Int) throws(ContainerError) -> UInt64 {
            let (time, isBeyond) = Int64(clamping: clusterTime).addingReportingOverflow(Int64(block.time))
            let (nanoseconds, isLarge) = time.multipliedReportingOverflow(by: Int64(scale))
            guard !isBeyond, !isLarge else { throw .malformed("the time of the block is too large", at: offset) }
            let begin = begin ?? nanoseconds
            self.begin = begin
            let since = nanoseconds > begin ? UInt64(nanoseconds.subtractingReportingOverflow(begin).partialValue) : 0
            let samples = since / 1_000 &* 48 / 1_000
            let end = track?.end ?? 0
            let start = samples > end &+ tolerance ? samples : end
            try track?.check(limit, end: start)
            return start
        }

        /// Nanoseconds to trim at the end of its block. Only those of the last block count.
        private mutating func readPadding(_ element: EBMLElement, _ file: RawSpan) throws(ContainerError) {
            let nanoseconds = try unsigned(element, file)
            // It is signed; a negative one trims the beginning, which the pre-skip does.
            guard element.data.count < 8 || nanoseconds >> 63 == 0 else { return }
            padding = nanoseconds / 1_000 &* 48 / 1_000
        }

        mutating func finish(isTruncated: Bool) throws(ContainerError) -> OpusTrack {
            if track == nil { try choose(at: 0) }
            guard var track else { throw .noOpus }
            let left = padding &+ UInt64(track.head.preSkip)
            track.sampleCount = track.end > left ? track.end &- left : 0
            track.isTruncated = isTruncated
            return track
        }
    }
}
