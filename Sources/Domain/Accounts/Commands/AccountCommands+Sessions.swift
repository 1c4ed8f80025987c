package import Model

// Sign-ins and the devices they are on. In the API a sign-in is called a session.
extension AccountCommands {
    package func sessions(of principal: Principal) async throws -> [SignInDocument] {
        try await database.readAccounts { store in
            try store.openSignIns(of: principal.user).map { signIn, device in
                signIn.document(on: device, current: signIn.id == principal.signIn)
            }
        }
    }

    /// Ends one of the user's sign-ins; nil means the one that asks. Ending one that has ended is no error.
    package func endSession(_ id: SignInID?, of principal: Principal) async throws -> AccountOutcome<Void> {
        guard let id = id ?? principal.signIn else {
            throw Problem(.conflict, "This token was issued elsewhere: there is no session here to end.")
        }
        let reason: SignInEnd = id == principal.signIn ? .signedOut : .revoked
        return try await end(of: principal.user, because: reason) { store in
            guard let signIn = try store.signIn(id), signIn.user == principal.user else {
                throw Problem.notFound("session", field: "session")
            }
            return { $0.id == id }
        }
    }

    package func devices(of principal: Principal) async throws -> [DeviceDocument] {
        try await database.readAccounts { store in
            let current = try principal.signIn.flatMap { try store.signIn($0) }?.device
            return try store.devices(of: principal.user).map { device in
                DeviceDocument(
                    id: device.id, name: device.name, platform: device.platform, createdAt: device.createdAt,
                    lastSeenAt: device.lastSeenAt, current: device.id == current)
            }
        }
    }

    /// Ends a device's sign-ins and forgets the device.
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
