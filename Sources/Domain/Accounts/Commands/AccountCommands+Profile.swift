package import Model

extension AccountCommands {
    package func me(_ principal: Principal) async throws -> OwnProfile {
        try await database.readAccounts { try $0.existingUser(principal.user).ownProfile }
    }

    /// Changes one's own profile and settings; a `profile` change tells the user's other clients. The outcome names the
    /// file of a photo that was removed.
    package func updateProfile(
        of principal: Principal, _ change: ProfileUpdate
    ) async throws -> AccountOutcome<OwnProfile> {
        let name = try change.displayName.map { try AccountRules.displayName($0) }
        if let photo = change.photoURL, !photo.isEmpty {
            throw Problem.invalid(
                "photoURL", "Only an empty text is taken here, which removes the photo: set one with PUT /v1/me/photo.")
        }
        let languages = try change.languages.map { try AccountRules.languages($0) }
        return try await changeProfile(of: principal) { user, store in
            if let name { user.displayName = name }
            if let languages { user.languages = languages }
            if let callWaiting = change.callWaiting { user.callWaiting = callWaiting }
            if let presence = change.presence { user.presence = presence }
            return change.photoURL == nil ? nil : try store.removePhoto(of: &user)
        }
    }
}
