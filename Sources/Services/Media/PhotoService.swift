package import Accounts
import Containers
package import MediaFiles
package import Model
package import Storage

/// Photos of users: runs their commands, parses uploads, and stores files.
package struct PhotoService: Sendable {
    /// Maximum bytes of an upload.
    package static let byteLimit = 512 * 1024
    /// Maximum pixels of a side.
    package static let sideLimit = 2048

    let store: Store
    private let accounts: AccountCommands
    private let files: MediaFiles
    private let slots = UploadSlots()

    package init(store: Store, accounts: AccountCommands, files: MediaFiles) {
        self.store = store
        self.accounts = accounts
        self.files = files
    }

    /// Receives the principal's new photo. The previous one is removed.
    package func set(
        by principal: Principal, receiving receive: () async throws -> [UInt8]
    ) async throws -> AccountOutcome<OwnProfile> {
        try await slots.hold(for: principal.user) {
            let image = try Self.read(try await receive())
            let now = Timestamp.systemClock()
            let file = MediaFile(
                id: .make(at: now), kind: .photo, resource: principal.user.text,
                contentType: image.format.contentType, byteCount: image.bytes.count, createdAt: now,
                owner: principal.user)
            try await files.write(image.bytes, as: file.id)
            do {
                let outcome = try await accounts.setPhoto(file, of: principal)
                await discard(outcome.removedFile)
                return outcome
            } catch {
                await discard(file.id)
                throw error
            }
        }
    }

    package func remove(by principal: Principal) async throws -> AccountOutcome<OwnProfile> {
        let outcome = try await accounts.removePhoto(of: principal)
        await discard(outcome.removedFile)
        return outcome
    }

    /// A photo of a user whose account is not disabled.
    package func photo(_ id: FileID) async throws -> (about: MediaFile, file: StoredFile) {
        let about = try await store.read { store in
            guard let found = try store.mediaFile(id), found.kind == .photo, let user = UserID(found.resource),
                try store.isActive(user)
            else { throw Problem.notFound("photo", field: "photo") }
            return found
        }
        return (about, try await files.open(id))
    }

    /// Removes the file of a photo that is no longer used. If that fails, it is removed at the next start.
    package func discard(_ file: FileID?) async {
        if let file { try? await files.remove(file) }
    }

    private static func read(_ upload: [UInt8]) throws -> ImageFile {
        do {
            return try ImageFile.read(upload.span.bytes, limit: sideLimit)
        } catch {
            throw Problem.invalid("body", error.description)
        }
    }
}
