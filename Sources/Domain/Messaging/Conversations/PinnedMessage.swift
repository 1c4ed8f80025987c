package import Model

/// A message that is pinned for everybody.
package struct PinnedMessage: Hashable, Sendable, Codable {
    package let number: Int64
    /// Who pinned it while being blocked by the other of the two, and sees it alone, for ever; nil if all see it.
    package var onlyFor: UserID?

    package init(_ number: Int64, onlyFor user: UserID? = nil) {
        self.number = number
        onlyFor = user
    }

    func isVisible(to user: UserID) -> Bool { onlyFor == nil || onlyFor == user }
}

extension Conversation {
    /// - Parameter user: who unpins it, and does not know what is pinned for others alone; nil for all pins of it.
    /// - Returns: whether it was pinned.
    mutating func unpin(_ number: Int64, by user: UserID? = nil) -> Bool {
        let count = pins.count
        pins.removeAll { pin in pin.number == number && (user.map { pin.isVisible(to: $0) } ?? true) }
        return pins.count < count
    }
}
