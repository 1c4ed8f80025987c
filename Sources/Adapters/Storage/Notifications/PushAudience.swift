import Accounts
import Model
import Synchronization

/// Remembers where nobody has a device to push to, so that writing there costs no query: most conversations of most
/// servers. It is of the process that alone has the store open.
///
/// What a transaction has learned counts once it is committed; what it makes untrue, at once and then again, since one
/// before it may be committed with it.
final class PushAudience: Sendable {
    enum Note: Hashable, Sendable {
        case isEmpty(Bool)
        case silent(ConversationID)
        /// A user has a device who had none.
        case registered
        /// Somebody has come in.
        case joined(ConversationID)
        /// Its devices were read.
        case claimed(ConversationID, at: Timestamp)
    }

    private struct State {
        var isEmpty: Bool?
        var silent = RecentMap<ConversationID, Bool>(capacity: PushAudience.remembered)
        var claimed = RecentMap<ConversationID, Timestamp>(capacity: PushAudience.remembered)
    }

    /// In larger ones it is not looked: somebody will have a device.
    static let countedMembers = 64
    private static let remembered = 10_000
    /// From one reading of the devices of a conversation to the next: messages that were sent meanwhile share one.
    static let spacingMilliseconds: Int64 = 250

    private let state = Mutex(State())

    /// Nil if it is not known.
    var isEmpty: Bool? { state.withLock { $0.isEmpty } }

    func isSilent(_ conversation: ConversationID) -> Bool { state.withLock { $0.silent[conversation] == true } }

    /// When the devices of a conversation are read for what is written now.
    func due(_ conversation: ConversationID, at now: Timestamp) -> Timestamp {
        guard let claimed = state.withLock({ $0.claimed[conversation] }), claimed <= now else { return now }
        return max(now, Self.next(after: claimed))
    }

    static func next(after claim: Timestamp) -> Timestamp { claim.adding(milliseconds: spacingMilliseconds) }

    func apply(_ notes: [Note]) {
        guard !notes.isEmpty else { return }
        state.withLock { state in
            for note in notes {
                switch note {
                case .isEmpty(let isEmpty): state.isEmpty = isEmpty
                case .silent(let conversation): state.silent[conversation] = true
                case .registered:
                    state.isEmpty = nil
                    state.silent = RecentMap(capacity: PushAudience.remembered)
                case .joined(let conversation): state.silent[conversation] = nil
                case .claimed(let conversation, let time): state.claimed[conversation] = time
                }
            }
        }
    }
}
