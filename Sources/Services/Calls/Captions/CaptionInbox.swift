import MediaGateway
import RTP
import Synchronization

/// The audio of a call that waits to be decoded. Producers never wait; packets beyond the limit are dropped and
/// counted.
final class CaptionInbox: AudioSink {
    enum Entry: Sendable {
        case packet(AudioPacket, TappedTrack)
        case ended(TappedTrack)
    }

    /// A few seconds of fifty speakers. Ends of tracks are always accepted.
    private static let maxPackets = 10_000

    private let state = Mutex((entries: [Entry](), droppedCount: 0))

    func receive(_ packet: AudioPacket, on track: TappedTrack) {
        state.withLock { state in
            guard state.entries.count < Self.maxPackets else {
                state.droppedCount += 1
                return
            }
            state.entries.append(.packet(packet, track))
        }
    }

    func ended(_ track: TappedTrack) {
        state.withLock { $0.entries.append(.ended(track)) }
    }

    /// Returns what came since the last call, and how many packets were dropped.
    func take() -> (entries: [Entry], droppedCount: Int) {
        state.withLock { state in
            defer { state = ([], 0) }
            return state
        }
    }
}
