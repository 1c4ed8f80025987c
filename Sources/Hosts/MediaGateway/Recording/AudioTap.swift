package import Gateway
import Synchronization
package import Wire

/// What was said in tapped calls, in the order in which it came, with a copy of each packet.
package struct TappedBatch: Sendable {
    package enum Entry: Hashable, Sendable {
        case began(TappedSource)
        /// The packet lies here in `bytes`.
        case packet(TappedPacket, Range<Int>)
        case ended(source: UInt32)
    }

    package private(set) var entries: [Entry] = []
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Of all that it holds.
    package var byteCount: Int { bytes.count &+ entries.count &* MemoryLayout<Entry>.stride }

    package func payload(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func append(_ packet: TappedPacket, _ payload: RawSpan) {
        let start = bytes.count
        payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
        entries.append(.packet(packet, start..<bytes.count))
    }

    /// Forgets what it holds, but keeps the memory for what comes.
    package mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }
}

/// The way from a thread that forwards to the one that records: it copies, never waits, and drops what nobody takes.
package final class SoundTap: Sendable {
    private struct State {
        var batch = TappedBatch()
        var droppedCount: UInt64 = 0
    }

    /// Some seconds of a hundred voices.
    package static let standardByteCount = 2 * 1024 * 1024

    private let limit: Int
    private let state = Mutex(State())

    package init(byteLimit: Int = SoundTap.standardByteCount) {
        limit = byteLimit
    }

    /// Packets that were dropped because nobody took what was there.
    package var droppedCount: UInt64 { state.withLock { $0.droppedCount } }
    package var waitingByteCount: Int { state.withLock { $0.batch.byteCount } }

    /// What came since the last time. Takes `spare`, which is empty and has memory, in its place.
    package func take(leaving spare: consuming TappedBatch) -> TappedBatch {
        spare.removeAll()
        return state.withLock { state in
            let taken = state.batch
            state.batch = spare
            return taken
        }
    }

    package func note(_ entry: TappedBatch.Entry) {
        state.withLock { $0.batch.append(entry) }
    }

    package func copy(_ packet: TappedPacket, _ payload: RawSpan) {
        state.withLock { state in
            guard state.batch.byteCount &+ payload.byteCount <= limit else {
                state.droppedCount &+= 1
                return
            }
            state.batch.append(packet, payload)
        }
    }
}
