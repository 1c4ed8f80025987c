import Foundation
import Model
import Services
import Transfer

/// Imports files: reads them twice, once to check and order the lines, and once to send them in batches to the owner of
/// the data directory.
///
/// One batch is under way at a time, so that the server's own requests come between two of them.
package final class ImportRun {
    /// A batch of this size is a transaction of a few milliseconds.
    private static let batchItems = 100
    private static let batchBytes = 1 << 19

    private struct Queued {
        var item: ImportItem
        /// Nil for the end of a conversation.
        var entry: ImportIndex.Entry?
        /// Its index among the conversations.
        var conversation: Int?
        /// Whether its conversation would lack something without it.
        var mayStop = true
    }

    private let files: [LineReader]
    private let index: ImportIndex
    private let continues: Bool
    private let progress: (String) -> Void
    private var report = ImportReport()
    private var batch: [Queued] = []
    private var bytes = 0
    /// Conversations of which something was refused.
    private var stopped: Set<Int> = []
    private var sent = 0

    /// Checks the files.
    ///
    /// - Parameters:
    ///   - source: of lines that name none.
    ///   - continues: whether what is wrong or refused is left out, and the rest of its conversation is imported.
    ///   - progress: is told now and then how far the import is.
    /// - Throws: an error that names the file.
    package init(
        paths: [String], source: String?, continues: Bool, progress: @escaping (String) -> Void
    ) throws {
        let source = try source.map { name throws(Problem) in try TransferFormat.source(name) }
        let files = try paths.map { try LineReader(path: $0) }
        var index = ImportIndex()
        for (number, file) in files.enumerated() { try index.add(file, file: number, source: source) }
        index.sort()
        self.files = files
        self.index = index
        self.continues = continues
        self.progress = progress
        for wrong in index.wrong {
            report.refused += 1
            report.list(wrong.reason, at: "\(files[wrong.file].path):\(wrong.line)")
        }
    }

    /// What the files have, without importing them.
    package var check: (report: ImportReport, lines: [String]) {
        let messages = index.conversations.reduce(0) { $0 + $1.messages.count }
        return (
            report,
            [
                "\(index.users.count) users, \(index.conversations.count) conversations and \(messages) messages in "
                    + "\(index.count) lines can be read; \(index.wrong.count) lines are wrong."
            ]
        )
    }

    /// - Parameter send: has a request handled.
    /// - Throws: if the server does not answer any more. Another run goes on from there.
    package func run(_ send: (ControlRequest) async throws -> ControlResponse) async throws -> ImportReport {
        guard continues || index.wrong.isEmpty else {
            progress("Nothing was imported: correct the lines, or leave them out with --skip-invalid.")
            return report
        }
        let source = index.sources.sorted().joined(separator: ",")
        _ = try await Self.lines(send(.importBegin(source: source)))
        for user in index.users { try await add(user.entry, user.source, send) }
        for (number, conversation) in index.conversations.enumerated() {
            func add(_ entry: ImportIndex.Entry, mayStop: Bool = true) async throws {
                try await self.add(entry, conversation.source, in: number, mayStop: mayStop, send)
            }
            for entry in conversation.conversation { try await add(entry) }
            for message in conversation.messages { try await add(message.entry) }
            for entry in conversation.members { try await add(entry) }
            for entry in conversation.own { try await add(entry, mayStop: false) }
            let end = ImportItem(source: conversation.source, finish: conversation.id)
            try await append(Queued(item: end, entry: nil, conversation: number), bytes: 64, send)
        }
        try await flush(send)
        _ = try await Self.lines(send(.importEnd(source: source)))
        return report
    }

    private func add(
        _ entry: ImportIndex.Entry, _ source: String, in conversation: Int? = nil, mayStop: Bool = true,
        _ send: (ControlRequest) async throws -> ControlResponse
    ) async throws {
        if let conversation, stopped.contains(conversation) {
            report.stopped += 1
            return
        }
        let bytes = try files[entry.file].read(at: entry.offset, count: entry.count)
        let sound = try await self.sound(of: bytes, in: entry, source, send)
        let item = ImportItem(source: source, line: String(decoding: bytes, as: UTF8.self), sound: sound)
        try await append(
            Queued(item: item, entry: entry, conversation: conversation, mayStop: mayStop), bytes: bytes.count, send)
    }

    /// Sends the sound of a voice message before its line. Without it, the message comes without it.
    private func sound(
        of line: [UInt8], in entry: ImportIndex.Entry, _ source: String,
        _ send: (ControlRequest) async throws -> ControlResponse
    ) async throws -> FileID? {
        guard let sound = AudioFolder.sound(in: line) else { return nil }
        let path = files[entry.file].path
        switch try await AudioFolder.send(
            sound.name, of: sound.message, sound.source ?? source, from: AudioFolder.path(of: path), send)
        {
        case .made(let file): return FileID(file)
        case .known, .missing: return nil
        case .refused(let reason):
            report.list("its sound cannot be imported: \(reason)", at: "\(path):\(entry.line)")
            return nil
        }
    }

    private func append(
        _ queued: Queued, bytes count: Int, _ send: (ControlRequest) async throws -> ControlResponse
    ) async throws {
        if batch.count >= Self.batchItems || bytes + count > Self.batchBytes { try await flush(send) }
        // The flush may have stopped its conversation.
        if let conversation = queued.conversation, stopped.contains(conversation) {
            report.stopped += queued.entry == nil ? 0 : 1
            return
        }
        batch.append(queued)
        bytes += count
    }

    private func flush(_ send: (ControlRequest) async throws -> ControlResponse) async throws {
        guard !batch.isEmpty else { return }
        let lines = try await Self.lines(send(.importLines(items: batch.map(\.item), continues: continues)))
        guard lines.count == batch.count else { throw ImportError("The server is of another version.") }
        for (line, queued) in zip(lines, batch) {
            guard let outcome = ImportOutcome(line: line) else {
                throw ImportError("The server is of another version.")
            }
            count(outcome, of: queued)
        }
        let before = sent
        sent += batch.count
        (batch, bytes) = ([], 0)
        if before / 5000 != sent / 5000 { progress("\(sent) of \(index.count) lines …") }
    }

    private func count(_ outcome: ImportOutcome, of queued: Queued) {
        let entry = queued.entry
        let name = entry.map { "\(files[$0.file].path):\($0.line)" } ?? "conversation \(queued.item.finish ?? "")"
        switch outcome {
        case .new where entry == nil: report.finished += 1
        case .same where entry == nil: break
        case .new: report.new += 1
        case .newWithout(let note):
            report.new += 1
            report.list("imported, but \(note).", at: name)
        case .same: report.same += 1
        case .refused(let reason):
            report.refused += 1
            report.list(reason, at: name)
            if !continues, queued.mayStop, let conversation = queued.conversation { stopped.insert(conversation) }
        case .stopped: report.stopped += entry == nil ? 0 : 1
        }
    }

    private static func lines(_ response: ControlResponse) throws -> [String] {
        if let error = response.error {
            throw ImportError("\(error) Run the import again: it goes on where it stopped.")
        }
        return response.lines
    }
}
