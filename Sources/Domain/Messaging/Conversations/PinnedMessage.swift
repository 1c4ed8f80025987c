package import Model

/// A message that is pinned for everybody.
package struct PinnedMessage: Hashable, Sendable, Codable {
    package let number: Int64
    /// The user who pinned it while they were blocked by the other person: only this user sees the pin, for ever. Nil
    /// if all see it.
    package var onlyFor: UserID?

    package init(_ number: Int64, onlyFor user: UserID? = nil) {
        self.number = number
        onlyFor = user
    }

    func isVisible(to user: UserID) -> Bool { onlyFor == nil || onlyFor == user }
}

extension Conversation {
    /// - Parameter user: the user who unpins it, who does not see pins that are visible to others alone; nil for all
    ///   pins of the message.
    /// - Returns: whether it was pinned.
    mutating func unpin(_ number: Int64, by user: UserID? = nil) -> Bool {
        let count = pins.count
        pins.removeAll { pin in pin.number == number && (user.map { pin.isVisible(to: $0) } ?? true) }
        return pins.count < count
    }
}
