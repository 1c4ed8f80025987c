package import Model
import Synchronization

/// Exports of members: a few at a time, so that slow clients do not hold many.
package final class ConversationExports: Sendable {
    private static let maxTotal = 8

    private let exporter: Exporter
    /// Those who are sent an export now.
    private let running = Mutex<Set<UserID>>([])

    package init(exporter: Exporter) { self.exporter = exporter }

    /// An export of a conversation as the user sees it: a function that writes the lines. What the user may see is checked
    /// for each part.
    ///
    /// - Throws: `not_found`, also for a conversation that the user was never in; the function, `unavailable` if too many are
    ///   under way, or one of the user's.
    package func begin(
        _ id: ConversationID, by user: UserID
    ) async throws -> @Sendable (([UInt8]) async throws -> Void) async throws -> Void {
        let first = try await exporter.page(of: .member(user, of: id), after: nil)
        if running.withLock({ $0.count >= Self.maxTotal || $0.contains(user) }) { throw Self.tooMany }
        return { [self] write in
            guard running.withLock({ $0.count < Self.maxTotal && $0.insert(user).inserted }) else { throw Self.tooMany }
            defer { running.withLock { running in _ = running.remove(user) } }
            try await self.write(first, of: id, by: user, write)
        }
    }

    private static let tooMany = Problem(
        .unavailable, "An export of yours is under way, or too many of others: try again later.", retryAfter: 5000)

    private func write(
        _ first: ExportPage, of id: ConversationID, by user: UserID, _ write: ([UInt8]) async throws -> Void
    ) async throws {
        var page = first
        // A user who appears on many pages has one line.
        var written: Set<[UInt8]> = []
        while true {
            var bytes: [UInt8] = []
            for line in page.lines where !line.starts(with: Self.userLine) || written.insert(line).inserted {
                bytes += line
                bytes.append(UInt8(ascii: "\n"))
            }
            if !bytes.isEmpty { try await write(bytes) }
            guard let next = page.next else { return }
            page = try await exporter.page(of: .member(user, of: id), after: next)
        }
    }

    private static let userLine = Array(#"{"type":"user""#.utf8)
}
