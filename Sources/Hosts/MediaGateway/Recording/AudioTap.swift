package import Gateway
import Synchronization
import Wire

/// The events of tapped calls in order of arrival, with a copy of each packet.
package struct TappedBatch: Sendable {
    package enum Entry: Hashable, Sendable {
        case began(TappedSource)
        /// A packet and its range in `bytes`.
        case packet(TappedPacket, Range<Int>)
        case ended(source: UInt32)
    }

    package private(set) var entries: [Entry] = []
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// The memory of all entries.
    package var byteCount: Int { bytes.count &+ entries.count &* MemoryLayout<Entry>.stride }

    package func payload(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func append(_ packet: TappedPacket, _ payload: RawSpan) {
        let start = bytes.count
        payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
        entries.append(.packet(packet, start..<bytes.count))
    }

    /// Removes everything, but keeps the memory.
    package mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }
}

/// A queue from a forwarding thread to the recorder: it copies, never blocks, and drops packets when it is full.
package final class AudioTap: Sendable {
    private struct State {
        var batch = TappedBatch()
        var droppedCount: UInt64 = 0
    }

    /// Some seconds of a hundred voices.
    package static let standardByteCount = 2 * 1024 * 1024

    private let limit: Int
    private let state = Mutex(State())

    package init(byteLimit: Int = AudioTap.standardByteCount) {
        limit = byteLimit
    }

    /// Packets dropped because the queue was full.
    package var droppedCount: UInt64 { state.withLock { $0.droppedCount } }
    package var waitingByteCount: Int { state.withLock { $0.batch.byteCount } }

    /// Takes what arrived since the last call. `spare` replaces it, so that its memory is reused.
    package func take(leaving spare: consuming TappedBatch) -> TappedBatch {
        spare.removeAll()
        return state.withLock { state in
            let taken = state.batch
            state.batch = spare
            return taken
        }
    }

    package func append(_ entry: TappedBatch.Entry) {
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
