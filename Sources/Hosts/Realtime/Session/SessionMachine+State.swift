import Model
import NIOCore

// Keyed state.
extension SessionMachine {
    /// Reads a stream anew, of which the client may see other things than before.
    mutating func reread(_ stream: StreamName, into actions: inout [SessionAction]) {
        switch listens[stream]?.state {
        case .live, .lagging: read(stream, after: nil, into: &actions)
        case .reading(var reading):
            // What is being read may be of before.
            reading.next = reading.next ?? StreamSubscription.Reading.Next(after: nil, listenIDs: [])
            reading.next?.after = nil
            listens[stream]?.state = .reading(reading)
        case .ephemeral:
            guard listens[stream]?.presence != nil else { return }
            // An event that waits is dropped by the reading.
            if !queue.isEmpty { listens[stream]?.presence?.last = nil }
            read(stream, after: nil, into: &actions)
        case nil: return
        }
    }

    mutating func rereadAll(_ pattern: StreamPattern, into actions: inout [SessionAction]) {
        for stream in Array(listens.keys) where StreamPattern(stream) == pattern { reread(stream, into: &actions) }
    }

    /// Reads on in the inbox, of which notices may have been lost.
    mutating func rereadInboxes(into actions: inout [SessionAction]) {
        for (stream, listening) in listens {
            guard case .inbox = stream else { continue }
            switch listening.state {
            case .live(let position): read(stream, after: position, into: &actions)
            case .reading(var reading):
                reading.hasOverflowed = true
                listens[stream]?.state = .reading(reading)
            case .lagging, .ephemeral: continue
            }
        }
    }

    /// Rows of the user's inbox have moved: they are read, together with those that move until then.
    mutating func receiveNotice(_ notice: InboxNotice, at now: NIODeadline, into actions: inout [SessionAction]) {
        let stream = StreamName.inbox(notice.user)
        guard var listening = listens[stream] else { return }
        switch listening.state {
        case .reading(var reading):
            reading.moved = reading.moved.map { $0.joined(with: notice) } ?? notice
            listening.state = .reading(reading)
            listens[stream] = listening
        case .live(let position):
            if notice.position.epoch == position.epoch, notice.position.sequence <= position.sequence { return }
            guard !isCongested else {
                listens[stream]?.state = .lagging(position)
                return clock.scheduleCheck()
            }
            guard notice.position.epoch == position.epoch else {
                return read(stream, after: position, into: &actions)
            }
            tickets &+= 1
            readings += 1
            var reading = StreamSubscription.Reading(ticket: tickets, after: position)
            reading.moved = notice
            let due = listening.lastReading.map { $0 + limits.inboxInterval } ?? now
            listening.state = .reading(reading)
            listens[stream] = listening
            if due <= now {
                waited(stream, ticket: reading.ticket, at: now, into: &actions)
            } else {
                actions.append(.wait(stream, ticket: reading.ticket, due - now))
            }
        case .lagging, .ephemeral: return
        }
    }

    /// Completes `wait`: what has moved until now is read.
    mutating func waited(
        _ stream: StreamName, ticket: UInt32, at now: NIODeadline, into actions: inout [SessionAction]
    ) {
        guard var listening = listens[stream], case .reading(var reading) = listening.state, reading.ticket == ticket,
            let moved = reading.moved
        else {
            // It listens no more, or anew.
            if case .over = phase { return }
            readings -= 1
            return
        }
        reading.moved = nil
        listening.state = .reading(reading)
        listening.lastReading = now
        listens[stream] = listening
        if moved.conversations.count > limits.inboxRows {
            actions.append(.open(stream, after: reading.after, ticket: ticket))
        } else {
            actions.append(.readMoved(moved, after: reading.after?.sequence ?? 0, ticket: ticket))
        }
    }
}

extension InboxNotice {
    /// Both notices as one. The other one is the later.
    fileprivate func joined(with later: Self) -> Self {
        Self(user: user, conversations: conversations.union(later.conversations), position: later.position)
    }
}
