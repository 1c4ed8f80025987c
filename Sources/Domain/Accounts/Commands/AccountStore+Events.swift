package import Model
internal import Webhooks

// The events of users, in the transaction of the change.
extension AccountStore {
    /// Inserts a user, and the identity by which the app knows it. Returns false if the e-mail address is taken.
    ///
    /// Every new user is inserted by this function.
    func create(_ user: UserRecord, as identity: ExternalIdentity? = nil) throws -> Bool {
        guard try insert(user) else { return false }
        if let identity { try link(identity, to: user.id) }
        guard subscriptions.includes(.userCreated) else { return true }
        let ext = identity.flatMap { $0.issuer == UserReference.issuer ? $0.subject : nil }
        let outside = identity.flatMap { $0.issuer == UserReference.issuer ? nil : ($0.issuer, $0.subject) }
        try insertEvent(
            .userCreated, of: user.id, EventData.user(EventParty(user: user.id, externalID: ext), identity: outside))
        return true
    }

    /// Disables a user, or enables one. Disabling a disabled user changes nothing.
    func setDisabled(_ isDisabled: Bool, _ user: inout UserRecord) throws {
        let isNew = isDisabled && user.disabledAt == nil
        try user.setDisabled(isDisabled, at: now)
        try update(user)
        if isNew { try recordUserEvent(.userDisabled, user.id) }
    }

    /// Writes the event that a user was deleted. Call it in the transaction of the deletion, before the user's identities
    /// are removed, since the event names the app's own id.
    package func recordDeleted(_ user: UserID) throws { try recordUserEvent(.userDeleted, user) }

    private func recordUserEvent(_ type: EventType, _ user: UserID) throws {
        guard subscriptions.includes(type) else { return }
        let ext = try externalIDs(of: [user])[user]
        try insertEvent(type, of: user, EventData.user(EventParty(user: user, externalID: ext)))
    }

    private func insertEvent(_ type: EventType, of user: UserID, _ data: String) throws {
        try insert(EventRecord(id: .make(at: now), type: type, at: now, user: user, data: data))
    }
}
