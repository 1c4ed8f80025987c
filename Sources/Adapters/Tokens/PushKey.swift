package import Model
package import Notifications

/// The key that seals the tokens of push registrations for the database: what a push service or a device gave to this
/// server, with which others could push too. A token opens only for the user, the device and the kind of registration
/// that it was sealed for.
///
/// It is in a file beside the database, and no backup has it: a restored copy pushes nothing until clients register again.
package struct PushKey: PushSealer {
    private let key: SealingKey

    private init(_ key: SealingKey) { self.key = key }

    /// A key that lives only as long as the process.
    package static func ephemeral() -> Self { Self(.ephemeral()) }

    /// Reads the key at `path`, or creates one there with mode 0600. The warning, if any, is for the operator.
    package static func load(from path: String) throws(KeyFileError) -> (key: Self, warning: String?) {
        let (key, warning) = try SealingKey.load(
            from: path,
            KeyFile.Description(
                name: "key of push registrations", exposure: "push to devices, with a copy of the database",
                loss: "devices are notified again once their clients have registered anew"))
        return (Self(key), warning)
    }

    /// Nonce, ciphertext and tag.
    ///
    /// - Parameter kind: such as `web`; without a line break.
    package func seal(_ token: [UInt8], for user: UserID, on device: DeviceID, _ kind: String) throws -> [UInt8] {
        try key.seal(token, for: Self.purpose(user, device, kind))
    }

    /// Throws if it was sealed with another key, for another registration, or is damaged.
    package func open(_ sealed: [UInt8], for user: UserID, on device: DeviceID, _ kind: String) throws -> [UInt8] {
        try key.open(sealed, for: Self.purpose(user, device, kind))
    }

    package func digest(_ bytes: [UInt8]) -> [UInt8] { key.digest(bytes, for: "switchboard push address") }

    private static func purpose(_ user: UserID, _ device: DeviceID, _ kind: String) -> String {
        "switchboard push\n\(user)\n\(device)\n\(kind)"
    }
}
