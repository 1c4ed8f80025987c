import MediaGateway
import RTP
import Synchronization

/// What was said in a call and is not decoded yet. Who puts it there never waits; what is too much is dropped and counted.
final class CaptionInbox: SoundListener {
    enum Entry: Sendable {
        case packet(SoundPacket, HeardTrack)
        case ended(HeardTrack)
    }

    /// Some seconds of fifty voices. Ends always fit.
    private static let mostPackets = 10_000

    private let state = Mutex((entries: [Entry](), droppedCount: 0))

    func heard(_ packet: SoundPacket, on track: HeardTrack) {
        state.withLock { state in
            guard state.entries.count < Self.mostPackets else {
                state.droppedCount += 1
                return
            }
            state.entries.append(.packet(packet, track))
        }
    }

    func ended(_ track: HeardTrack) {
        state.withLock { $0.entries.append(.ended(track)) }
    }

    /// What came since the last time, and how much was dropped.
    func take() -> (entries: [Entry], droppedCount: Int) {
        state.withLock { state in
            defer { state = ([], 0) }
            return state
        }
    }
}
