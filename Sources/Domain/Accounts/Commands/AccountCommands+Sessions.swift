package import Model

// Sign-ins and the devices they are on. In the API a sign-in is called a session.
extension AccountCommands {
    /// Latest use first.
    package func sessions(
        of principal: Principal, limit: Int = 100, cursor: String? = nil
    ) async throws -> AccountPage<SignInDocument> {
        let limit = try Self.limit(limit)
        let after = try cursor.map { try UseCursor<SignInID>(text: $0) }
        let (found, pushes) = try await database.readAccounts { store in
            (
                try store.openSignIns(of: principal.user, after: after, limit: limit + 1),
                try store.pushKinds(of: principal.user)
            )
        }
        let page = found.prefix(limit).map { signIn, device in
            var document = signIn.document(on: device, current: signIn.id == principal.signIn)
            document.device.push = pushes[device.id]
            return document
        }
        let next = page.last.map { UseCursor(usedAt: $0.lastUsedAt, id: $0.id).text }
        return AccountPage(items: page, nextCursor: found.count > limit ? next : nil)
    }

    /// Remembers which client uses the principal's sign-in. Writes only if it is another one than before; a token of
    /// an external issuer has no sign-in here.
    package func setClient(_ client: ClientInfo, of principal: Principal) async throws {
        guard let id = principal.signIn else { return }
        guard try await database.readAccounts({ try $0.signIn(id)?.client }) != client else { return }
        _ = try await database.writeAccounts { store in
            guard var signIn = try store.signIn(id), signIn.client != client, signIn.endedAt == nil else {
                return
            }
            signIn.client = client
            try store.update(signIn)
        }
    }

    /// Ends one of the user's sign-ins; nil means that of the request. Ending an ended sign-in is no error.
    package func endSession(_ id: SignInID?, of principal: Principal) async throws -> AccountOutcome<Void> {
        guard let id = id ?? principal.signIn else {
            throw Problem(.conflict, "This token is from an external issuer: it has no session here to end.")
        }
        let reason: SignInEnd = id == principal.signIn ? .signedOut : .revoked
        return try await end(of: principal.user, because: reason) { store in
            guard let signIn = try store.signIn(id), signIn.user == principal.user else {
                throw Problem.notFound("session", field: "session")
            }
            return { $0.id == id }
        }
    }

    /// Latest use first.
    package func devices(
        of principal: Principal, limit: Int = 100, cursor: String? = nil
    ) async throws -> AccountPage<DeviceDocument> {
        let limit = try Self.limit(limit)
        let after = try cursor.map { try UseCursor<DeviceID>(text: $0) }
        let (found, current) = try await database.readAccounts { store in
            (
                try store.devices(of: principal.user, after: after, limit: limit + 1),
                try principal.signIn.flatMap { try store.signIn($0) }?.device
            )
        }
        let page = found.prefix(limit).map { device in
            DeviceDocument(
                id: device.id, name: device.name, platform: device.platform, createdAt: device.createdAt,
                lastSeenAt: device.lastSeenAt, current: device.id == current)
        }
        let next = page.last.map { UseCursor(usedAt: $0.lastSeenAt, id: $0.id).text }
        return AccountPage(items: page, nextCursor: found.count > limit ? next : nil)
    }

    /// Ends a device's sign-ins and removes the device.
    package func removeDevice(_ id: DeviceID, of principal: Principal) async throws -> AccountOutcome<Void> {
        try await end(of: principal.user, because: .revoked, thenRemoving: id) { store in
            guard try store.device(id, of: principal.user) != nil else {
                throw Problem.notFound("device", field: "device")
            }
            return { $0.device == id }
        }
    }

    private func end(
        of user: UserID, because reason: SignInEnd, thenRemoving device: DeviceID? = nil,
        which: @escaping @Sendable (any AccountStore) throws -> (SignInRecord) -> Bool
    ) async throws -> AccountOutcome<Void> {
        let written = try await database.writeAccounts { store in
            let ended = try store.endSignIns(of: user, because: reason, where: which(store))
            if let device { try store.removeDevice(device, of: user) }
            return (ended, store.now)
        }
        announceEnd(of: written.value.0, of: user, at: written.value.1)
        return AccountOutcome(value: (), positions: written.positions)
    }
}

// As text: milliseconds, a dot, the id.
extension UseCursor {
    var text: String { "\(usedAt.milliseconds).\(id)" }

    init<Entity>(text: String) throws where ID == Identifier<Entity> {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let id = ID(String(parts[1])) else {
            throw Problem.invalid("cursor", "This cursor does not belong to this list.")
        }
        self.init(usedAt: Timestamp(milliseconds: milliseconds), id: id)
    }
}
