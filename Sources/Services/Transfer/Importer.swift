package import Accounts
package import MediaFiles
package import Model
package import Storage
package import Transfer

/// A line of a file that is imported, or the end of the lines of a conversation.
package struct ImportItem: Codable, Hashable, Sendable {
    package var source: String
    /// A line, without its end.
    package var line: String?
    /// Of a voice message: its sound, which ``ImportAudioFiles`` has made.
    package var sound: FileID?
    /// The conversation's id in the source.
    package var finish: String?

    package init(source: String, line: String, sound: FileID? = nil) {
        self.source = source
        self.line = line
        self.sound = sound
    }

    package init(source: String, finish conversation: String) {
        self.source = source
        finish = conversation
    }
}

/// Imports batches of lines. Each is one transaction, which other writes wait for: some milliseconds.
package struct Importer: Sendable {
    private let store: Store
    private let accounts: AccountCommands
    private let commands: ImportCommands
    private let sounds: ImportAudioFiles
    private let files: MediaFiles

    package init(
        store: Store, accounts: AccountCommands, secrets: any SecretSource, sounds: ImportAudioFiles, files: MediaFiles
    ) {
        self.sounds = sounds
        self.files = files
        self.store = store
        self.accounts = accounts
        commands = ImportCommands(secrets: secrets)
    }

    /// - Parameter continues: whether a conversation goes on after something of it was refused.
    /// - Returns: an outcome for each item.
    package func run(_ items: [ImportItem], continues: Bool) async throws -> [ImportOutcome] {
        let claimed = await sounds.claim(items.compactMap(\.sound))
        let read = items.map { item -> Result<ImportStep, Problem> in
            do {
                return .success(try Self.step(of: item, item.sound.flatMap { claimed[$0] }))
            } catch {
                return .failure(error as? Problem ?? Problem(.invalidRequest, "The line cannot be read."))
            }
        }
        let steps = read.compactMap { try? $0.get() }
        for case .record(.user(let user), _, _) in steps {
            // Before somebody signs in with it.
            if let hash = user.passwordHash { accounts.expectPassword(hash) }
        }
        let commands = commands
        var outcomes = try await store.write { try commands.run(steps, continues: continues, in: $0) }.value[...]
        if !claimed.isEmpty { try await sounds.discard(Array(claimed.keys), in: files) }
        return read.map { result in
            switch result {
            case .success: outcomes.popFirst() ?? .stopped
            case .failure(let problem): .refused(problem.detail)
            }
        }
    }

    private static func step(of item: ImportItem, _ sound: ImportedAudio?) throws -> ImportStep {
        let source = try TransferFormat.source(item.source)
        if let line = item.line {
            let read = try TransferReader.read(Array(line.utf8))
            return .record(read.record, source: read.source ?? source, sound: sound)
        }
        guard let conversation = item.finish else {
            throw Problem(.invalidRequest, "The item has neither line nor end.")
        }
        return .finish(conversation: conversation, source: source)
    }
}
