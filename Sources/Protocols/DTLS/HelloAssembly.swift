import Wire

/// A fragmented hello with a valid cookie, as far as it has been received.
///
/// After the first, fragments may come in any order, repeated, and overlapping (RFC 6347 section 4.2.3); of bytes that
/// come twice the first are kept.
struct HelloAssembly {
    /// No honest hello has more parts than this with gaps between them.
    private static let maximumParts = 32

    let random: Digest
    let messageSequence: UInt16
    let startedAt: Instant
    private(set) var bytes: [UInt8]
    /// The highest record sequence among the fragments.
    private(set) var sequence: UInt64
    /// The ranges received so far, in order and with gaps between them.
    private var parts: [Range<Int>] = []

    init(_ fragment: HandshakeFragment, random: Digest, sequence: UInt64, at now: Instant) {
        self.random = random
        self.sequence = sequence
        messageSequence = fragment.messageSequence
        startedAt = now
        bytes = [UInt8](repeating: 0, count: fragment.messageByteCount)
    }

    func isOfSameMessage(_ fragment: HandshakeFragment) -> Bool {
        fragment.messageSequence == messageSequence && fragment.messageByteCount == bytes.count
    }

    var isComplete: Bool {
        parts.count == 1 && parts[0] == 0..<bytes.count
    }

    /// Adds a fragment of the same message. False when it leaves too many gaps.
    mutating func add(_ fragment: HandshakeFragment, of datagram: RawSpan, sequence: UInt64) -> Bool {
        guard isOfSameMessage(fragment), let content = datagram.part(fragment.body) else { return false }
        self.sequence = max(self.sequence, sequence)
        let range = fragment.offset..<fragment.offset &+ content.byteCount
        guard !range.isEmpty else { return true }
        fill(range, with: content)
        // Adjacent and overlapping parts are merged with the new one.
        let adjacent = parts.filter { $0.upperBound >= range.lowerBound && $0.lowerBound <= range.upperBound }
        guard parts.count - adjacent.count < Self.maximumParts else { return false }
        let start = min(range.lowerBound, adjacent.first?.lowerBound ?? range.lowerBound)
        let end = max(range.upperBound, adjacent.last?.upperBound ?? range.upperBound)
        parts.removeAll { $0.lowerBound >= start && $0.upperBound <= end }
        parts.insert(start..<end, at: parts.firstIndex { $0.lowerBound > start } ?? parts.count)
        return true
    }

    private mutating func fill(_ range: Range<Int>, with content: RawSpan) {
        var position = range.lowerBound
        for part in parts where part.upperBound > range.lowerBound && part.lowerBound < range.upperBound {
            copy(content, from: position &- range.lowerBound, to: position..<max(position, part.lowerBound))
            position = max(position, part.upperBound)
        }
        copy(content, from: position &- range.lowerBound, to: position..<max(position, range.upperBound))
    }

    private mutating func copy(_ content: RawSpan, from offset: Int, to target: Range<Int>) {
        guard target.lowerBound >= 0, target.upperBound <= bytes.count, !target.isEmpty,
            let source = content.part(offset..<offset &+ target.count)
        else { return }
        bytes.withUnsafeMutableBytes { all in
            source.withUnsafeBytes { all[target].copyBytes(from: $0) }
        }
    }
}
