import Wire

/// A hello that brought a right cookie and was cut, as far as it has come.
///
/// Fragments may come in any order behind the first, twice, and overlapping (RFC 6347 section 4.2.3); of bytes that come
/// twice the first count.
struct HelloAssembly {
    /// More parts than this with holes between them are nobody's honest hello.
    private static let maximumParts = 32

    let random: Digest
    let messageSequence: UInt16
    let startedAt: Instant
    private(set) var bytes: [UInt8]
    /// The highest record sequence among the fragments.
    private(set) var sequence: UInt64
    /// What has come, in order and with holes between.
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

    /// Takes in a fragment of the same message. False when it leaves too many holes.
    mutating func add(_ fragment: HandshakeFragment, of datagram: RawSpan, sequence: UInt64) -> Bool {
        guard isOfSameMessage(fragment), let content = datagram.part(fragment.body) else { return false }
        self.sequence = max(self.sequence, sequence)
        let place = fragment.offset..<fragment.offset &+ content.byteCount
        guard !place.isEmpty else { return true }
        fill(place, with: content)
        // What touches or overlaps becomes one part with the new one.
        let touching = parts.filter { $0.upperBound >= place.lowerBound && $0.lowerBound <= place.upperBound }
        guard parts.count - touching.count < Self.maximumParts else { return false }
        let start = min(place.lowerBound, touching.first?.lowerBound ?? place.lowerBound)
        let end = max(place.upperBound, touching.last?.upperBound ?? place.upperBound)
        parts.removeAll { $0.lowerBound >= start && $0.upperBound <= end }
        parts.insert(start..<end, at: parts.firstIndex { $0.lowerBound > start } ?? parts.count)
        return true
    }

    private mutating func fill(_ place: Range<Int>, with content: RawSpan) {
        var position = place.lowerBound
        for part in parts where part.upperBound > place.lowerBound && part.lowerBound < place.upperBound {
            copy(content, from: position &- place.lowerBound, to: position..<max(position, part.lowerBound))
            position = max(position, part.upperBound)
        }
        copy(content, from: position &- place.lowerBound, to: position..<max(position, place.upperBound))
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
