package import Accounts
package import MediaFiles
package import Model
package import Storage
import Transfer
import Voice

/// The sounds of voice messages that are imported. Each comes in parts before the line of its message, is read as an upload
/// is, and stored without a row: the message makes that. What no message takes is removed.
package actor ImportAudioFiles {
    /// More than the messages of this server have, since others may have had other limits.
    package static let (maxBytes, maxSeconds) = (32 << 20, 1800)
    /// Sounds that are received at a time, and that wait for their messages.
    private static let (maxReceiving, maxMade) = (4, 1000)

    /// What became of a part.
    package enum Outcome: Hashable, Sendable {
        /// Its message was imported before: the rest is not needed.
        case known
        /// The next part is expected.
        case more
        case made(FileID)
        case refused(String)
    }

    private let store: Store
    private let commands: ImportCommands
    private let work = ConcurrencyLimiter(maxConcurrent: 1, maxWaiting: 64, busyWith: "imported sounds")
    private var receiving: [String: [UInt8]] = [:]
    private var made: [FileID: VoiceAudio] = [:]

    package init(store: Store, secrets: any SecretSource) {
        self.store = store
        commands = ImportCommands(secrets: secrets)
    }

    /// Takes a part of the sound of a message.
    ///
    /// - Parameters:
    ///   - offset: how many bytes came before.
    ///   - total: of the whole sound.
    package func take(
        _ part: [UInt8], at offset: Int, of total: Int, for message: String, _ source: String, into files: MediaFiles
    ) async throws -> Outcome {
        guard (1...Self.maxBytes).contains(total) else {
            return .refused("A sound has at most \(Self.maxBytes >> 20) MiB.")
        }
        let key = TransferFormat.key("sound", message, of: source)
        let commands = commands
        if offset == 0 {
            if try await store.read({ try commands.has(message, of: source, in: $0) }) { return .known }
            if receiving.count >= Self.maxReceiving, let other = receiving.keys.first { receiving[other] = nil }
            receiving[key] = []
        }
        guard var bytes = receiving[key], bytes.count == offset, offset + part.count <= total else {
            receiving[key] = nil
            return .refused("The parts of the sound are not in order.")
        }
        bytes += part
        guard bytes.count == total else {
            receiving[key] = bytes
            return .more
        }
        receiving[key] = nil
        return try await make(bytes, files)
    }

    private func make(_ sound: [UInt8], _ files: MediaFiles) async throws -> Outcome {
        guard made.count < Self.maxMade else { return .refused("Too many sounds wait for their messages.") }
        var rules = VoiceRules()
        rules.secondsLimit = Self.maxSeconds
        let reading: VoiceReading
        do {
            reading = try await work.run { [rules] in try VoiceReading(sound, rules) }
        } catch let problem as Problem where problem.field == "body" {
            return .refused(problem.detail)
        }
        let file = FileID.make(at: Timestamp.systemClock())
        try await files.write(reading.file, as: file)
        made[file] = reading.audio
        return .made(file)
    }

    /// The sounds that wait for these messages; they do not wait any more.
    func claim(_ wanted: [FileID]) -> [FileID: ImportedAudio] {
        var found: [FileID: ImportedAudio] = [:]
        for file in wanted {
            if let audio = made.removeValue(forKey: file) { found[file] = ImportedAudio(file: file, audio: audio) }
        }
        return found
    }

    /// Removes the files of those that no message has taken.
    func discard(_ claimed: [FileID], in files: MediaFiles) async throws {
        let unused = try await store.read { store in try claimed.filter { try store.voiceFile($0) == nil } }
        for file in unused { try await files.remove(file) }
    }

    /// An import begins or ends: what an earlier one has left is removed.
    package func reset(in files: MediaFiles) async throws {
        let left = Array(made.keys)
        (receiving, made) = ([:], [:])
        for file in left { try await files.remove(file) }
    }
}
