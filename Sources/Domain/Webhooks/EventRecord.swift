package import Model

/// Something that happened, as it is sent to webhooks and read by pullers. It is written in the transaction of the change,
/// and only if somebody subscribes to its type.
package struct EventRecord: Hashable, Sendable {
    /// The `webhook-id` of all its deliveries.
    package var id: EventID
    /// The place in the order of commits; 0 until the store assigns it. It rises by one with each event.
    package var number: Int64
    package var type: EventType
    package var at: Timestamp
    /// When telling about it becomes useless: the ring deadline of `call.ringing`.
    package var expiresAt: Timestamp?
    /// Whose event it is: of a `call.ringing`, the callee.
    package var user: UserID?
    package var call: CallID?
    package var recording: RecordingID?
    /// JSON text of an object: the payload's `data`, but for `remainingMs`.
    package var data: String

    package init(
        id: EventID, number: Int64 = 0, type: EventType, at: Timestamp, expiresAt: Timestamp? = nil,
        user: UserID? = nil, call: CallID? = nil, recording: RecordingID? = nil, data: String
    ) {
        self.id = id
        self.number = number
        self.type = type
        self.at = at
        self.expiresAt = expiresAt
        self.user = user
        self.call = call
        self.recording = recording
        self.data = data
    }
}

extension EventRecord {
    /// What is sent: `{"type":…,"timestamp":…,"data":{…}}`. An event that expires gets `remainingMs` in its data, since the
    /// clocks of phones are wrong.
    package func payload(at now: Timestamp) -> String {
        var writer = JSONWriter(capacity: data.utf8.count + 128)
        writer.object { write(into: &$0, at: now) }
        return writer.text
    }

    /// The members of the payload.
    package func write(into writer: inout JSONWriter, at now: Timestamp) {
        writer.member("type", type.rawValue)
        writer.member("timestamp", at)
        writer.name("data")
        writer.write(json: data(at: now))
    }

    private func data(at now: Timestamp) -> String {
        guard let expiresAt, data.hasPrefix("{"), data.hasSuffix("}"), data.utf8.count > 2 else { return data }
        return data.dropLast() + ",\"remainingMs\":\(max(0, expiresAt.milliseconds(since: now)))}"
    }
}
