package import Model
import Synchronization

/// Exports of members: a few at a time. A client that reads slowly keeps its export only as long as nobody else wants one.
package final class ConversationExports: Sendable {
    private static let maxTotal = 8
    /// Bytes a second, from the first seconds on, below which an export gives way.
    private static let leastRate = 65_536
    private static let first = Duration.seconds(10)
    /// For so long after one was refused the slow ones give way.
    private static let pressed = Duration.seconds(30)

    private struct Running {
        /// Those who are sent an export now.
        var users: Set<UserID> = []
        var refusedAt: ContinuousClock.Instant?
    }

    private let exporter: Exporter
    private let running = Mutex(Running())
    private let now: @Sendable () -> ContinuousClock.Instant

    package init(
        exporter: Exporter, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.exporter = exporter
        self.now = now
    }

    /// An export of a conversation as the user sees it: a function that writes the lines. What the user may see is checked
    /// for each part.
    ///
    /// - Throws: `not_found`, also for a conversation that the user was never in; the function, `unavailable` if too many are
    ///   under way, or one of the user's.
    package func begin(
        _ id: ConversationID, by user: UserID
    ) async throws -> @Sendable (([UInt8]) async throws -> Void) async throws -> Void {
        let first = try await exporter.page(of: .member(user, of: id), after: nil)
        guard running.withLock({ $0.users.count < Self.maxTotal && !$0.users.contains(user) }) else { throw refused() }
        return { [self] write in
            guard running.withLock({ $0.users.count < Self.maxTotal && $0.users.insert(user).inserted }) else {
                throw refused()
            }
            defer { running.withLock { running in _ = running.users.remove(user) } }
            try await self.write(first, of: id, by: user, write)
        }
    }

    /// Who asks twice is refused, and waits for nobody but themselves.
    private func refused() -> Problem {
        running.withLock { if $0.users.count >= Self.maxTotal { $0.refusedAt = now() } }
        return Self.tooMany
    }

    /// - Throws: `unavailable`, if so many bytes since `start` are few and somebody else waits.
    private func checkRate(_ bytes: Int, since start: ContinuousClock.Instant) throws {
        let now = now()
        let elapsed = now - start
        guard elapsed > Self.first, let refused = running.withLock({ $0.refusedAt }), now - refused < Self.pressed,
            Double(bytes) < elapsed / .seconds(1) * Double(Self.leastRate)
        else { return }
        throw Problem(.unavailable, "This export was read slowly, and others wait.")
    }

    private static let tooMany = Problem(
        .unavailable, "An export of yours is under way, or too many of others: try again later.", retryAfter: 5000)

    private func write(
        _ first: ExportPage, of id: ConversationID, by user: UserID, _ write: ([UInt8]) async throws -> Void
    ) async throws {
        let start = now()
        var sent = 0
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
            sent += bytes.count
            try checkRate(sent, since: start)
            page = try await exporter.page(of: .member(user, of: id), after: next)
        }
    }

    private static let userLine = Array(#"{"type":"user""#.utf8)
}
