import Languages
package import Model

extension AccountCommands {
    package func me(_ principal: Principal) async throws -> OwnProfile {
        try await database.readAccounts { try $0.existingUser(principal.user).ownProfile }
    }

    /// Changes the user's profile and settings; a `profile` change notifies the user's other clients. The outcome names
    /// the file of a removed photo.
    package func updateProfile(
        of principal: Principal, _ change: ProfileUpdate
    ) async throws -> AccountOutcome<OwnProfile> {
        let name = try change.displayName.map { try AccountRules.displayName($0) }
        if let photo = change.photoURL, !photo.isEmpty {
            throw Problem.invalid(
                "photoURL", "Expected an empty string, which removes the photo. Set a photo with PUT /v1/me/photo.")
        }
        let languages = try change.languages.map { try AccountRules.languages($0) }
        return try await changeProfile(of: principal) { user, store in
            if let name { user.displayName = name }
            if let languages { user.languages = languages }
            if let callWaiting = change.callWaiting { user.callWaiting = callWaiting }
            if let presence = change.presence { user.presence = presence }
            if let reach = change.reach { user.reach = reach }
            if let receipts = change.receipts { user.receipts = receipts }
            if let lastSeen = change.lastSeen { user.lastSeen = lastSeen }
            if let requests = change.messageRequests { user.messageRequests = requests }
            if let translation = change.translation { user.choices.translation = translation }
            if let hints = change.hints { user.choices.hints = hints }
            if let intelligence = change.intelligence { user.choices.intelligence = intelligence }
            if let level = change.notifications { user.notifications = level }
            if let hours = change.quietHours { user.quietHours = hours }
            return change.photoURL == nil ? nil : try store.removePhoto(of: &user)
        }
    }
}
