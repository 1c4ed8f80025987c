package import Model

/// That a device of a user is pushed to by one service. A device has one of each kind for each account.
package struct PushRegistration: Hashable, Sendable {
    package var id: Int64
    package var user: UserID
    package var device: DeviceID
    package var kind: PushKind
    /// The address as `PushSealer` seals it, and a digest by which the same one is found.
    package var sealed: [UInt8]
    package var digest: [UInt8]
    /// The endpoint that registered it, for users without a sign-in.
    package var endpoint: EndpointID?
    /// Whether other accounts of the device may have the same address.
    package var isShared: Bool
    package var createdAt: Timestamp
    package var updatedAt: Timestamp

    package init(
        id: Int64 = 0, user: UserID, device: DeviceID, kind: PushKind, sealed: [UInt8], digest: [UInt8],
        endpoint: EndpointID? = nil, isShared: Bool = false, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.id = id
        self.user = user
        self.device = device
        self.kind = kind
        self.sealed = sealed
        self.digest = digest
        self.endpoint = endpoint
        self.isShared = isShared
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    package var document: PushRegistrationDocument {
        PushRegistrationDocument(kind: kind, device: device, createdAt: createdAt, updatedAt: updatedAt)
    }
}

/// A registration as its user sees it, without its address. In JSON: `PushRegistration`.
package struct PushRegistrationDocument: Codable, Hashable, Sendable {
    package var kind: PushKind
    package var device: DeviceID
    package var createdAt: Timestamp
    package var updatedAt: Timestamp
}

/// Seals addresses for the database.
package protocol PushSealer: Sendable {
    func seal(_ address: [UInt8], for user: UserID, on device: DeviceID, _ kind: String) throws -> [UInt8]
    func open(_ sealed: [UInt8], for user: UserID, on device: DeviceID, _ kind: String) throws -> [UInt8]
    /// The same for the same bytes; who does not have the key learns nothing from it.
    func digest(_ bytes: [UInt8]) -> [UInt8]
}

extension PushSealer {
    package func address(of registration: PushRegistration) -> PushAddress? {
        let bytes = try? open(
            registration.sealed, for: registration.user, on: registration.device, registration.kind.rawValue)
        return bytes.flatMap { PushAddress($0, of: registration.kind) }
    }
}
