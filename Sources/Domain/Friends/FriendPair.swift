package import Model

/// The records of two users about each other, and what one of them, `me`, does with them.
///
///     mine        theirs                      means
///     requested   received                    I have asked
///     requested   nothing or declined         I have asked; they declined, or nothing of mine reaches them
///     received    requested                   they have asked
///     nothing     requested                   they have asked, while I had blocked them or had too many requests
///     declined    requested or nothing        I have declined
///     friend      friend                      we are friends
///
/// A function changes the records and says what happened. Whoever asks sees only `mine`, so that a request that was
/// declined or withheld is like one that waits.
package struct FriendPair: Hashable, Sendable {
    package let me: UserID
    package let other: UserID
    package private(set) var mine: FriendRecord?
    package private(set) var theirs: FriendRecord?

    /// Records that have expired by `now` are left out.
    package init(me: UserID, other: UserID, mine: FriendRecord?, theirs: FriendRecord?, at now: Timestamp) {
        self.me = me
        self.other = other
        self.mine = mine.flatMap { $0.hasExpired(at: now) ? nil : $0 }
        self.theirs = theirs.flatMap { $0.hasExpired(at: now) ? nil : $0 }
    }

    package enum RequestAction: Hashable, Sendable {
        /// There was a request or a friendship before.
        case none
        case requested
        /// The other had asked before: the two are friends now.
        case befriended
    }

    /// I ask the other to be my friend.
    ///
    /// - Parameter isDeliverable: false if the other has blocked me, or can receive no more requests.
    package mutating func request(note: String?, isDeliverable: Bool, at now: Timestamp) -> RequestAction {
        if let mine, mine.state == .friend || mine.state == .requested { return .none }
        if theirs?.state == .requested {
            befriend(at: now)
            return .befriended
        }
        let expiresAt = now.adding(seconds: FriendRules.requestSeconds)
        mine = FriendRecord(
            owner: me, user: other, state: .requested, note: note, at: now, expiresAt: expiresAt)
        if isDeliverable, theirs == nil {
            theirs = FriendRecord(
                owner: other, user: me, state: .received, note: note, at: now, expiresAt: expiresAt)
        }
        return .requested
    }

    package enum AcceptAction: Hashable, Sendable {
        /// The two were friends before.
        case none
        case befriended
        /// There is no request to accept.
        case rejected
    }

    package mutating func accept(at now: Timestamp) -> AcceptAction {
        switch mine?.state {
        case .friend: return .none
        case .received where theirs?.state == .requested:
            befriend(at: now)
            return .befriended
        case .received, .requested, .declined, nil: return .rejected
        }
    }

    package enum DeclineAction: Hashable, Sendable {
        /// It was declined before.
        case none
        case declined
        /// There is no request to decline.
        case rejected
    }

    /// The other's record stays as it is.
    package mutating func decline(at now: Timestamp) -> DeclineAction {
        switch mine?.state {
        case .declined: return .none
        case .received:
            mine = FriendRecord(
                owner: me, user: other, state: .declined, at: now,
                expiresAt: now.adding(seconds: FriendRules.requestSeconds))
            return .declined
        case .friend, .requested, nil: return .rejected
        }
    }

    package enum RemoveAction: Hashable, Sendable {
        /// There was nothing to remove.
        case none
        case removed
        /// A request of the other is accepted or declined.
        case rejected
    }

    /// Ends the friendship, or cancels my request. What the other has declined stays declined.
    package mutating func remove() -> RemoveAction {
        switch mine?.state {
        case .received: return .rejected
        case .declined, nil: return .none
        case .friend, .requested:
            mine = nil
            if theirs?.isVisible ?? false { theirs = nil }
            return .removed
        }
    }

    /// I block the other: a friendship and my request end for both. A request of the other is gone for me, and stays
    /// for them.
    package mutating func block() {
        switch mine?.state {
        case .friend, .requested: _ = remove()
        case .received: mine = nil
        case .declined, nil: break
        }
    }

    private mutating func befriend(at now: Timestamp) {
        mine = FriendRecord(owner: me, user: other, state: .friend, at: now)
        theirs = FriendRecord(owner: other, user: me, state: .friend, at: now)
    }
}
