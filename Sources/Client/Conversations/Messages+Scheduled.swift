public import Foundation

/// A message that is sent at its time. Its author alone sees it until then.
public struct ScheduledMessage: Codable, Hashable, Sendable, Identifiable {
    /// Why it was not sent at its time.
    public struct Failure: Codable, Hashable, Sendable {
        /// The kind of the problem.
        public var type: Problem.Kind
        /// An explanation for people.
        public var detail: String
    }

    /// The conversation that it goes to.
    public var conversation: ConversationID
    /// The id that it is sent with.
    public var clientID: MessageClientID
    /// The text.
    public var text: String
    /// The number of the message that it replies to.
    public var replyTo: Int?
    /// When it is sent.
    public var sendAt: Date
    /// When it was scheduled.
    public var createdAt: Date
    /// Why it was not sent at its time: it is kept until it is deleted or gets another time. Nil while it waits.
    public var failure: Failure?

    /// The message's identity.
    public var id: MessageClientID { clientID }
}

/// How many messages the user has scheduled in a conversation.
public struct ScheduledSummary: Codable, Hashable, Sendable {
    /// All of them.
    public var count: Int
    /// Those that could not be sent at their time.
    public var failed: Int
    /// The counter of the newest of them: it differs after every change, and falls when that one is sent or deleted.
    var counter: Int
}

extension Messages {
    /// The messages that wait to be sent, and those that could not be, by time: now, and whenever they change, on any device.
    /// It begins with a connection, and ends when the user signs out.
    public var scheduledMessages: AsyncStream<[ScheduledMessage]> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let reading = Task {
                var (last, shown): (ScheduledSummary?, [ScheduledMessage]?) = (nil, nil)
                for await state in self where state.isCurrent {
                    // Where nobody has noted anything yet, no count comes. Without an answer, the next connection has a state
                    // again.
                    guard shown == nil || state.scheduled != last, let list = try? await scheduled() else { continue }
                    last = state.scheduled
                    if list != shown { continuation.yield(list) }
                    shown = list
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }
}

// Messages that are sent later. Each needs a connection; they are sent without one.
extension Messages {
    private struct Scheduling: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: String
        var text: String
        var replyTo: Int?
        var sendAt: String
    }
    private struct Change: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        var text: String?
        var sendAt: String?
    }
    private struct Sending: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
        /// Null is something else than absent: now.
        var sendAt: String?? = .some(nil)
    }
    private struct OfScheduled: Encodable, Sendable {
        var conversation: ConversationID
        var clientID: MessageClientID
    }
    private struct Scheduled: Decodable, Sendable { var scheduled: ScheduledMessage }
    private struct Sent: Decodable, Sendable { var message: Message }
    private struct List: Decodable, Sendable { var scheduled: [ScheduledMessage] }

    /// Has the server send a message later, with or without this device. At most 100 may wait in a conversation.
    ///
    /// - Parameters:
    ///   - text: As for ``send(_:replyTo:)``.
    ///   - time: 10 seconds to a year from now.
    ///   - number: The number of the message that it replies to.
    @discardableResult
    public func schedule(
        _ text: String, at time: Date, replyTo number: Int? = nil
    ) async throws -> ScheduledMessage {
        let result: Scheduled = try await realtime.request(
            "messages.send",
            Scheduling(
                conversation: await realtime.resolve(conversation), clientID: newUUID(), text: text, replyTo: number,
                sendAt: JSON.text(time)))
        return result.scheduled
    }

    /// The messages that wait to be sent, and those that could not be, by time.
    public func scheduled() async throws -> [ScheduledMessage] {
        let list: List = try await realtime.request(
            "scheduled.list", ["conversation": await realtime.resolve(conversation)])
        return list.scheduled
    }

    /// Gives a scheduled message another text or time; what is nil stays. Another time gives one that failed another try.
    @discardableResult
    public func reschedule(
        _ message: MessageClientID, to text: String? = nil, at time: Date? = nil
    ) async throws -> ScheduledMessage {
        let result: Scheduled = try await realtime.request(
            "scheduled.update",
            Change(
                conversation: await realtime.resolve(conversation), clientID: message, text: text,
                sendAt: time.map { JSON.text($0) }))
        return result.scheduled
    }

    /// Sends a scheduled message now.
    @discardableResult
    public func sendNow(_ message: MessageClientID) async throws -> Message {
        let result: Sent = try await realtime.request(
            "scheduled.update", Sending(conversation: await realtime.resolve(conversation), clientID: message))
        return result.message
    }

    /// Deletes a scheduled message. Deleting twice changes nothing; for one that was sent this throws
    /// ``Problem/Kind/conflict``.
    public func unschedule(_ message: MessageClientID) async throws {
        let _: Nothing = try await realtime.request(
            "scheduled.delete", OfScheduled(conversation: await realtime.resolve(conversation), clientID: message))
    }
}
