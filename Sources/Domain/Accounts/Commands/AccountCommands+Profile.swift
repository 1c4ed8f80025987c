package import Model

extension AccountCommands {
    package func me(_ principal: Principal) async throws -> OwnProfile {
        try await database.readAccounts { try $0.existingUser(principal.user).ownProfile }
    }

    /// Changes one's own profile and settings; a `profile` change tells the user's other clients.
    package func updateProfile(
        of principal: Principal, _ change: ProfileUpdate
    ) async throws -> AccountOutcome<OwnProfile> {
        let name = try change.displayName.map { try AccountRules.displayName($0) }
        let photo = try change.photoURL.map { $0.isEmpty ? "" : try AccountRules.photoURL($0) }
        let languages = try change.languages.map { try AccountRules.languages($0) }
        let written = try await database.writeAccounts { store in
            let before = try store.existingUser(principal.user)
            var user = before
            if let name { user.displayName = name }
            if let photo { user.photoURL = photo.isEmpty ? nil : photo }
            if let languages { user.languages = languages }
            if let callWaiting = change.callWaiting { user.callWaiting = callWaiting }
            if let presence = change.presence { user.presence = presence }
            guard user != before else { return before.ownProfile }
            try store.update(user)
            try store.append("profile", user.ownProfile, to: .user(user.id))
            return user.ownProfile
        }
        return AccountOutcome(value: written.value, positions: written.positions)
    }
}
