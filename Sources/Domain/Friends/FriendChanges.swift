internal import Accounts
internal import Model
internal import Webhooks

/// Writes what has become of a pair: rows, changes of both streams, events, and that friends may write. All follow from the
/// records before and after, so that no command can forget one.
struct FriendChanges {
    let before: (mine: FriendRecord?, theirs: FriendRecord?)
    let after: FriendPair

    func write(to store: any FriendStore) throws {
        try write(before.mine, after.mine, of: after.me, about: after.other, to: store)
        try write(before.theirs, after.theirs, of: after.other, about: after.me, to: store)
        if before.mine?.state != .friend, after.mine?.state == .friend {
            try store.acceptMessages(between: after.me, and: after.other)
        }
        guard let type = eventType, store.subscriptions.includes(type) else { return }
        let ids = try store.externalIDs(of: [after.me, after.other])
        let data = EventData.friend(
            EventParty(user: after.other, externalID: ids[after.other]),
            by: EventParty(user: after.me, externalID: ids[after.me]))
        try store.insert(
            EventRecord(id: .make(at: store.now), type: type, at: store.now, user: after.other, data: data))
    }

    private func write(
        _ old: FriendRecord?, _ new: FriendRecord?, of owner: UserID, about user: UserID, to store: any FriendStore
    ) throws {
        guard old != new else { return }
        if let new {
            try store.save(new)
        } else {
            try store.removeFriend(user, of: owner)
        }
        if let new, new.isVisible {
            guard let profile = try store.user(user)?.profile else { return }
            try store.append(.friend, FriendDocument(new, profile), to: owner)
        } else if let old, old.isVisible {
            try store.append(.friendRemoved, FriendRemoval(user: user), to: owner)
        }
    }

    /// What the other's app may tell the other; nil if nothing reaches them.
    private var eventType: EventType? {
        switch (before.theirs?.state, after.theirs?.state) {
        case (.friend, .friend): nil
        case (_, .friend): .friendAccepted
        case (.friend, _): .friendRemoved
        case (_, .received) where before.theirs != after.theirs: .friendRequested
        default: nil
        }
    }
}

extension FriendStore {
    /// Reads the records of two users, lets `change` decide, and writes what has changed.
    func change<Action>(
        _ me: UserID, _ other: UserID, _ decide: (inout FriendPair) throws -> Action
    ) throws -> (action: Action, pair: FriendPair) {
        let before = (mine: try friend(other, of: me), theirs: try friend(me, of: other))
        var pair = FriendPair(me: me, other: other, mine: before.mine, theirs: before.theirs, at: now)
        let action = try decide(&pair)
        try FriendChanges(before: before, after: pair).write(to: self)
        return (action, pair)
    }
}
