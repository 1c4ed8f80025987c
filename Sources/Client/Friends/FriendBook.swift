/// Friends and requests, assembled from the user's stream, as a state machine without I/O.
struct FriendBook: Sendable {
    private var friends: [UserID: Friend] = [:]
    /// Whether a snapshot has arrived.
    private(set) var isKnown = false

    /// The newest first.
    var all: [Friend] {
        friends.values.sorted { one, other in
            let (first, second) = (one.since ?? one.createdAt, other.since ?? other.createdAt)
            guard let first, let second, first != second else { return one.id.rawValue > other.id.rawValue }
            return first > second
        }
    }

    /// Applies a delivery of the user's stream. Returns whether the list has changed.
    mutating func apply(_ delivery: EndpointMachine.Delivery) -> Bool {
        switch delivery {
        case .snapshot(.user(let document), _):
            let (before, wasKnown) = (friends, isKnown)
            friends = Dictionary((document.friends ?? []).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            isKnown = true
            return !wasKnown || friends != before
        case .changes(let changes):
            var hasChanged = false
            for change in changes {
                switch change.content {
                case .friend(let friend):
                    friends[friend.id] = friend
                    hasChanged = true
                case .friendRemoved(let user):
                    friends[user] = nil
                    hasChanged = true
                default: break
                }
            }
            return hasChanged
        case .snapshot, .rows, .listening, .presence, .caption, .captionTranslation, .typing, .run, .closed:
            return false
        }
    }
}
