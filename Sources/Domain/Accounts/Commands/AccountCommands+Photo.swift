package import Model

extension AccountCommands {
    /// Sets the user's photo, whose file is already in the media directory; a `profile` change notifies the user's
    /// other clients. The outcome names the file of the previous photo.
    package func setPhoto(_ photo: MediaFile, of principal: Principal) async throws -> AccountOutcome<OwnProfile> {
        try await changeProfile(of: principal) { [settings] user, store in
            let replaced = try store.removePhoto(of: &user)
            try settings.quota.check(user.id, adding: Int64(photo.byteCount), in: store)
            try store.insert(photo)
            user.photoURL = PhotoAddress.path(of: photo.id)
            return replaced
        }
    }

    /// Removes the user's photo, if there is one. The outcome names its file.
    package func removePhoto(of principal: Principal) async throws -> AccountOutcome<OwnProfile> {
        try await changeProfile(of: principal) { user, store in try store.removePhoto(of: &user) }
    }

    /// Applies `change` to the user and appends it to the user's stream, if it changes anything.
    ///
    /// - Parameter change: returns the file of the removed photo, if any.
    func changeProfile(
        of principal: Principal, _ change: @escaping @Sendable (inout UserRecord, any AccountStore) throws -> FileID?
    ) async throws -> AccountOutcome<OwnProfile> {
        let written = try await database.writeAccounts { store in
            let before = try store.existingUser(principal.user)
            var user = before
            let removed = try change(&user, store)
            if user != before {
                try store.update(user)
                try store.append(.profile, user.ownProfile, to: user.id)
            }
            return (user.ownProfile, removed)
        }
        return AccountOutcome(
            value: written.value.0, positions: written.positions, removedFile: written.value.1)
    }
}

extension AccountStore {
    /// Removes a user's photo and the row of its file; returns the file.
    func removePhoto(of user: inout UserRecord) throws -> FileID? {
        let file = user.photoURL.flatMap { PhotoAddress.file(at: $0) }
        user.photoURL = nil
        if let file { try removeMediaFile(file) }
        return file
    }
}
