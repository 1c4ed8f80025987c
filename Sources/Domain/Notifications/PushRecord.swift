package import Model

/// What pushes are about: each has one state for a device, which is replaced.
package enum PushTopic: Hashable, Sendable {
    case conversation(ConversationID)
    case call(CallID)

    package var text: String {
        switch self {
        case .conversation(let id): id.text
        case .call(let id): id.text
        }
    }
}

/// That something has changed of which devices are to be told: one row for each topic, written in the transaction of the
/// change, whatever the number of those it concerns.
package struct PushSource: Hashable, Sendable {
    package var topic: PushTopic
    /// Of messages those after the first number up to the last; of a call its version.
    package var after: Int64
    package var upTo: Int64
    package var since: Timestamp
    /// Of the claim.
    package var fence: Int64
    /// When what happens meanwhile is due.
    package var next: Timestamp

    package init(topic: PushTopic, after: Int64, upTo: Int64, since: Timestamp, fence: Int64, next: Timestamp) {
        self.topic = topic
        self.after = after
        self.upTo = upTo
        self.since = since
        self.fence = fence
        self.next = next
    }
}

/// What becomes of a source whose pushes are written.
package enum PushSourceProgress: Hashable, Sendable {
    /// More devices follow; it is claimed until then.
    case continues(until: Timestamp)
    /// These were the last; what has changed meanwhile is due then.
    case ends(next: Timestamp)
}

/// What has become of the claim of a source.
package enum PushSourceState: Hashable, Sendable {
    case claimed
    case finished
    /// Something has changed since it was claimed: it is due again.
    case changed
    /// Somebody else has it, or has finished it.
    case lost
}

/// What a device is to be told of a topic, as it is when it is sent.
package struct PushRecord: Hashable, Sendable {
    package var id: Int64
    package var topic: PushTopic
    package var registration: PushRegistration
    /// As of its sources.
    package var after: Int64
    package var upTo: Int64
    /// What the device was last told of it.
    package var sent: Sent?
    /// How many attempts have failed, or were lost with their process: of these nobody knows whether they arrived.
    package var attempt: Int
    package var createdAt: Timestamp
    /// When the latest of what it tells happened.
    package var changedAt: Timestamp
    /// Of the claim.
    package var fence: Int64
    /// The end of the quiet hours for which it waited.
    package var quietUntil: Timestamp?

    /// Of a topic that goes on.
    package enum Sent: String, Hashable, Sendable {
        case ring
    }

    package init(
        id: Int64, topic: PushTopic, registration: PushRegistration, after: Int64, upTo: Int64, sent: Sent? = nil,
        attempt: Int = 0, createdAt: Timestamp, changedAt: Timestamp, fence: Int64, quietUntil: Timestamp? = nil
    ) {
        self.id = id
        self.topic = topic
        self.registration = registration
        self.after = after
        self.upTo = upTo
        self.sent = sent
        self.attempt = attempt
        self.createdAt = createdAt
        self.changedAt = changedAt
        self.fence = fence
        self.quietUntil = quietUntil
    }
}

/// How far what a device is to be told of a topic is.
package enum PushState: Hashable, Sendable {
    /// It is told nothing, or not yet, or that is over.
    case none
    case waits
    case failed
    case sent
}

/// What became of a claimed push.
package struct PushSettlement: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        /// The device was told, or there is nothing to tell any more: it is over, unless something has changed meanwhile, which
        /// is due then.
        case done(next: Timestamp)
        /// The device rings, and is told when that ends.
        case rings
        case retry(at: Timestamp)
        /// Not attempted: it is due again then, and that does not count.
        case released(at: Timestamp)
        /// Not attempted: it is due at the end of the user's quiet hours.
        case quiet
        /// The service knows no such device: the registration goes, unless it was renewed meanwhile.
        case gone
    }

    package var push: Int64
    package var fence: Int64
    package var registration: Int64
    /// When the registration was last renewed before the claim.
    package var registeredAt: Timestamp
    package var topic: PushTopic
    /// What was told.
    package var upTo: Int64
    package var result: Result

    /// - Parameter number: of the message that was told, if there was one.
    package init(_ record: PushRecord, _ result: Result, number: Int64? = nil) {
        push = record.id
        fence = record.fence
        registration = record.registration.id
        registeredAt = record.registration.updatedAt
        topic = record.topic
        upTo = max(record.upTo, number ?? 0)
        self.result = result
    }
}

/// A registration that a source concerns.
package struct PushCandidate: Hashable, Sendable {
    package var registration: Int64
    package var user: UserID
    /// The device's endpoints, which may be connected.
    package var endpoints: [EndpointID]

    package init(registration: Int64, user: UserID, endpoints: [EndpointID]) {
        self.registration = registration
        self.user = user
        self.endpoints = endpoints
    }
}
