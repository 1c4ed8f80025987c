import Bus
import Model

// Presence, of which each listener gets what they see.
extension SessionMachine {
    /// Reads anew what the client sees of a user, and if it is its own user, of all whose presence it listens to.
    mutating func rereadPresence(about user: UserID, into actions: inout [SessionAction]) {
        if principal?.user == user {
            for stream in Array(listens.keys) {
                if case .presence = stream { reread(stream, into: &actions) }
            }
        } else {
            reread(.presence(user), into: &actions)
        }
    }

    /// Sends an event, unless it says nothing new to this listener.
    mutating func pass(_ event: StreamEvent, into actions: inout [SessionAction]) {
        let stream = event.event.stream
        guard let presence = event.event.presence, let listened = listens[stream]?.presence else {
            return sendEvent(event.frame, of: stream, about: event.event.subject, into: &actions)
        }
        let seen = presence.seen(listened.view)
        // Who sees nothing was told so, and hears no more. Others may have read it already, as their view was read anew.
        guard seen != listened.last else { return }
        listens[stream]?.presence?.last = seen
        sendEvent(event.frame(of: seen), of: stream, into: &actions)
    }

    /// Sends what was read: to who listens already as an event, if it has changed. Whoever is blocked would otherwise learn
    /// from the snapshot that something was decided about them.
    mutating func send(
        _ presence: Presence, of stream: StreamName, rereading isRereading: Bool, into actions: inout [SessionAction]
    ) {
        guard isRereading, let listened = listens[stream]?.presence else {
            return send(.snapshot(Array(presence.json.utf8), of: stream, at: .ephemeral), into: &actions)
        }
        guard listened.last != presence else { return }
        sendEvent(.presence(presence, of: stream), of: stream, into: &actions)
    }
}
