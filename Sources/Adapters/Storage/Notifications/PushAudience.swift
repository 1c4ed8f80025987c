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
    }

    private struct State {
        var isEmpty: Bool?
        var silent = RecentMap<ConversationID, Bool>(capacity: 10_000)
    }

    /// In larger ones it is not looked: somebody will have a device.
    static let countedMembers = 64

    private let state = Mutex(State())

    /// Nil if it is not known.
    var isEmpty: Bool? { state.withLock { $0.isEmpty } }

    func isSilent(_ conversation: ConversationID) -> Bool { state.withLock { $0.silent[conversation] == true } }

    func apply(_ notes: [Note]) {
        guard !notes.isEmpty else { return }
        state.withLock { state in
            for note in notes {
                switch note {
                case .isEmpty(let isEmpty): state.isEmpty = isEmpty
                case .silent(let conversation): state.silent[conversation] = true
                case .registered: state = State()
                case .joined(let conversation): state.silent[conversation] = nil
                }
            }
        }
    }
}
