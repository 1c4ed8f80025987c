import Synchronization
import Testing

@testable import SwitchboardClient

/// How long anything is waited for: for hangs, not for slowness.
private let deadline = Duration.seconds(60)

/// Waits for a state of a chat. A failure says what was last seen.
func state(
    of messages: Messages, sourceLocation: SourceLocation = #_sourceLocation,
    until condition: @escaping @Sendable (Messages.State) -> Bool
) async -> Messages.State? {
    await first(in: messages, sourceLocation: sourceLocation, where: condition)
}

/// Waits for a state of the list of conversations.
func list(
    of client: Switchboard, sourceLocation: SourceLocation = #_sourceLocation,
    until condition: @escaping @Sendable (Conversations.State) -> Bool
) async -> Conversations.State? {
    await first(in: client.conversations, sourceLocation: sourceLocation, where: condition)
}

/// Waits until the client knows that it has a connection, or has none.
func connection(
    of client: Switchboard, is expected: Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
    _ = await first(in: await client.connectionChanges, sourceLocation: sourceLocation) { $0 == expected }
}

/// Waits for an element.
func first<Elements: AsyncSequence & Sendable>(
    in elements: Elements, sourceLocation: SourceLocation = #_sourceLocation,
    where condition: @escaping @Sendable (Elements.Element) -> Bool
) async -> Elements.Element? where Elements.Element: Sendable {
    let seen = LastSeen<Elements.Element>()
    let found = await withTaskGroup(of: Elements.Element?.self) { group in
        group.addTask {
            do {
                for try await element in elements {
                    seen.value.withLock { $0 = element }
                    if condition(element) { return element }
                }
            } catch {}
            return nil
        }
        group.addTask {
            try? await Task.sleep(for: deadline)
            return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
    }
    if found == nil {
        let last = seen.value.withLock { $0.map { "\($0)" } ?? "nothing" }
        Issue.record("It did not come; last seen: \(last)", sourceLocation: sourceLocation)
    }
    return found
}

private final class LastSeen<Element: Sendable>: Sendable {
    let value = Mutex<Element?>(nil)
}

/// Waits until it is so.
///
/// - Parameter seen: what is told of a failure, as it was last.
func eventually(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool,
    seen: () async throws -> Any = { "false" }
) async throws {
    let end = ContinuousClock.now + deadline
    while try await !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("It did not come; last seen: \(try await seen())", sourceLocation: sourceLocation)
            return
        }
        try await Task.sleep(for: .milliseconds(10))
    }
}

extension RealtimeEndpoint {
    /// Runs `body` while nothing is written to the store, whose files it may copy then: only this actor writes to it.
    func withoutWrites<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

    /// What waits to be sent, or was refused.
    var queued: [WriteEntry] { messaging.queue.entries }

    /// The chats that somebody reads.
    var chatsThatAreRead: Set<ConversationID> { Set(messaging.open.keys) }
}
