package import Model

/// The operations on voice files that are not sent yet, as functions over a store's transaction. Each command authorizes its
/// principal itself.
package struct VoiceCommands: Sendable {
    package let rules: VoiceRules

    package init(rules: VoiceRules = VoiceRules()) { self.rules = rules }

    /// Checks that the principal may make a file, before any audio is received.
    package func check(_ principal: Principal, in store: some VoiceStore) throws {
        guard try store.isActive(principal.user) else { throw Problem(.forbidden, "This account is disabled.") }
        guard try store.unsentVoiceFileCount(of: principal.user, limit: rules.unsentLimit) < rules.unsentLimit else {
            throw Problem(
                .conflict,
                "\(rules.unsentLimit) voice files of yours are not sent, the most there may be. Send or discard some.")
        }
        try rules.quota.check(principal.user, in: store)
    }

    /// The file that an earlier identical request made, if any.
    package func madeBefore(
        _ clientID: ClientID, bodyHash: [UInt8], by principal: Principal, in store: some VoiceStore
    ) throws -> VoiceFile? {
        let verdict = try store.voiceFile(madeWith: clientID, of: principal.user, bodyHash: bodyHash)
        return try resolve(verdict, in: store)
    }

    /// Keeps audio that is in a file until it is sent. If another request with the same client id came first, returns that
    /// request's file.
    package func keep(
        _ audio: VoiceAudio, in id: FileID, _ clientID: ClientID, bodyHash: [UInt8], by principal: Principal,
        at now: Timestamp, store: some VoiceStore
    ) throws -> (file: VoiceFile, isDuplicate: Bool) {
        let verdict = try store.remember(clientID, of: principal.user, bodyHash: bodyHash, voiceFile: id)
        if let before = try resolve(verdict, in: store) { return (before, true) }
        try check(principal, in: store)
        try check(audio)
        try rules.quota.check(principal.user, adding: Int64(audio.byteCount), in: store)
        let file = VoiceFile(id: id, author: principal.user, createdAt: now, audio: audio)
        try store.insert(file)
        return (file, false)
    }

    /// Discards a file that is not sent. Discarding twice changes nothing.
    package func discard(_ id: FileID, by principal: Principal, in store: some VoiceStore) throws {
        guard let file = try store.voiceFile(id), file.author == principal.user else { return }
        guard file.location == nil else {
            throw Problem(.conflict, "This file was sent: delete its message.", field: "file")
        }
        try store.removeVoiceFile(id)
    }

    /// Removes at most `limit` files that were not sent in time. Returns how many.
    package func removeUnsent(limit: Int, at now: Timestamp, in store: some VoiceStore) throws -> Int {
        let old = try store.unsentVoiceFiles(before: now.adding(seconds: -rules.unsentSeconds), limit: limit)
        for file in old { try store.removeVoiceFile(file.id) }
        return old.count
    }

    /// Removes at most `limit` files that a deleted user has not sent. Returns how many.
    package func removeUnsent(of user: UserID, limit: Int, in store: some VoiceStore) throws -> Int {
        let files = try store.unsentVoiceFiles(of: user, limit: limit)
        for file in files { try store.removeVoiceFile(file.id) }
        return files.count
    }

    private func resolve(_ verdict: MadeBefore, in store: some VoiceStore) throws -> VoiceFile? {
        switch verdict {
        case .never: return nil
        case .same(let id):
            guard let file = try store.voiceFile(id) else {
                throw Problem(.notFound, "The file that this request made does not exist any more.", field: "file")
            }
            return file
        case .somethingElse:
            throw Problem(.clientIDReused, "This clientID was used for another request.", field: "clientID")
        }
    }

    private func check(_ audio: VoiceAudio) throws {
        guard audio.durationMs > 0 else { throw Problem.invalid("body", "There is no audio in this file.") }
        guard audio.durationMs <= rules.secondsLimit * 1000 else {
            throw Problem.invalid("body", "A voice message lasts at most \(rules.secondsLimit) seconds.")
        }
    }
}
