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
    /// The messages that wait to be sent, and those that could not be, by time: now, and whenever they change, on any
    /// device. What waits on this device is shown as done. It begins with a connection, or with what waits here, and
    /// ends when the user signs out.
    public var scheduledMessages: AsyncStream<[ScheduledMessage]> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let reading = Task {
                var (last, held, shown): (ScheduledSummary?, [ScheduledMessage]?, [ScheduledMessage]?) = (nil, nil, nil)
                var waited: [WaitingWrite] = []
                for await state in self {
                    let waiting = state.writes.filter(\.isOfScheduled)
                    // If there are no notes yet, no count comes. If there is no response, the next connection brings a
                    // state again. The server has the messages that no longer wait here.
                    if state.isCurrent, held == nil || state.scheduled != last || waiting != waited,
                        let list = try? await realtime.scheduled(in: conversation)
                    {
                        (held, last) = (list, state.scheduled)
                    }
                    waited = waiting
                    guard held != nil || !waiting.isEmpty else { continue }
                    let list = (held ?? []).applying(waiting)
                    if list != shown { continuation.yield(list) }
                    shown = list
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }
}

// Messages that are sent later: with or without this device, once the server has them.
extension Messages {
    /// Has the server send a message later, with or without this device, which tells it now or as soon as there is a
    /// connection. At most 100 may wait in a conversation.
    ///
    /// If the server hears of it too late, it is not sent: ``ScheduledMessage/failure`` says so, and
    /// ``reschedule(_:to:at:)`` or ``sendNow(_:)`` sends it all the same.
    ///
    /// - Parameters:
    ///   - text: As for ``send(_:replyTo:)``.
    ///   - time: 10 seconds to a year from when the server hears of it.
    ///   - number: The number of the message that it replies to.
    /// - Returns: The id that it is sent with, by which ``scheduledMessages`` shows it.
    @discardableResult
    public func schedule(_ text: String, at time: Date, replyTo number: Int? = nil) async throws -> MessageClientID {
        try await realtime.schedule(text, at: time, replyTo: number, in: conversation)
    }

    /// The messages that wait to be sent, and those that could not be, by time. It needs a connection; what waits on
    /// this device is shown as done.
    public func scheduled() async throws -> [ScheduledMessage] {
        let list = try await realtime.scheduled(in: conversation)
        return list.applying(await realtime.waitingWrites(in: conversation))
    }

    /// Gives a scheduled message another text or time, now or as soon as there is a connection; a parameter that is nil
    /// changes nothing. A message that has failed is tried again at its new time. The change fails with
    /// ``Problem/Kind/conflict`` if the message is sent before.
    public func reschedule(_ message: MessageClientID, to text: String? = nil, at time: Date? = nil) async throws {
        try await realtime.reschedule(message, to: text, at: time, in: conversation)
    }

    /// Sends a scheduled message now, or as soon as there is a connection.
    ///
    /// - Returns: The message's identity.
    @discardableResult
    public func sendNow(_ message: MessageClientID) async throws -> Message.ID {
        try await realtime.sendNow(message, in: conversation)
    }

    /// Deletes a scheduled message, now or as soon as there is a connection. Deleting twice changes nothing; it fails
    /// with ``Problem/Kind/conflict`` if the message is sent before.
    public func unschedule(_ message: MessageClientID) async throws {
        try await realtime.unschedule(message, in: conversation)
    }
}

extension [ScheduledMessage] {
    /// The list as it will be when all waiting writes are done. Writes that were refused say why.
    func applying(_ writes: [WaitingWrite]) -> [ScheduledMessage] {
        var list = self
        for write in writes {
            switch write.action {
            case .schedule(var message):
                guard !list.contains(where: { $0.id == message.id }) else { continue }
                message.failure = write.problem.map { .init(type: $0.kind, detail: $0.detail) }
                list.append(message)
            case .reschedule(let id, let text, let time):
                guard write.problem == nil, let index = list.firstIndex(where: { $0.id == id }) else { continue }
                list[index].text = text ?? list[index].text
                if let time { (list[index].sendAt, list[index].failure) = (time, nil) }
            case .sendNow(let id), .unschedule(let id):
                if write.problem == nil { list.removeAll { $0.id == id } }
            default: continue
            }
        }
        return list.sorted { ($0.sendAt, $0.id.rawValue) < ($1.sendAt, $1.id.rawValue) }
    }
}

extension WaitingWrite {
    fileprivate var isOfScheduled: Bool {
        switch action {
        case .schedule, .reschedule, .sendNow, .unschedule: true
        default: false
        }
    }
}
