package import Model

// The JSON of calls and participants, in all APIs and streams. It is the same for every reader, so that a change is
// encoded once for all.

extension Call {
    /// The whole document. `now` is for `remainingMs` alone.
    package func json(at now: Timestamp) -> String {
        var writer = JSONWriter(capacity: 512 + participants.count * 384)
        write(to: &writer, at: now)
        return writer.text
    }

    package func write(to writer: inout JSONWriter, at now: Timestamp) {
        writer.object { writer in
            writeMembers(to: &writer)
            writer.name("participants")
            writer.array(participants) { $1.write(to: &$0, at: now) }
        }
    }

    /// The document without its participants: what a `call` change in the call's own stream carries.
    package func summaryJSON() -> String {
        var writer = JSONWriter()
        writer.object { writeMembers(to: &$0) }
        return writer.text
    }

    private func writeMembers(to writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("conversationID", conversation)
        if isOpen { writer.member("open", true) }
        writer.member("kind", kind.rawValue)
        writer.member("mode", mode.name)
        writer.member("gatewayEpoch", gatewayEpoch)
        writer.member("status", status.name)
        writer.member("endReason", ending?.reason.rawValue)
        writer.member("endedBy", ending?.by)
        writer.member("version", version)
        writer.member("caller", caller)
        writer.member("createdAt", createdAt)
        writer.member("answeredAt", answeredAt)
        writer.member("endedAt", ending?.at)
        if wasRecorded { writer.member("recorded", true) }
        if let recording {
            writer.name("recording")
            writer.object { writer in
                writer.member("id", recording.id)
                writer.member("by", recording.by)
                writer.member("since", recording.since)
                writer.member("until", recording.until)
            }
        }
        writer.member("recordingEnded", recordingEnd?.rawValue)
        if let captions {
            writer.name("captions")
            writer.object { writer in
                writer.member("by", captions.by)
                writer.member("since", captions.since)
                writer.member("failure", captions.failure)
            }
        }
    }
}

extension Call.Status {
    package var name: String {
        switch self {
        case .ringing: "ringing"
        case .active: "active"
        case .ended: "ended"
        }
    }
}

extension Participant {
    /// The participant as a change in the call's stream: with the version of the call, since a response may overtake
    /// it.
    package func json(at now: Timestamp, version: Int64) -> String {
        var writer = JSONWriter()
        write(to: &writer, at: now, version: version)
        return writer.text
    }

    package func write(to writer: inout JSONWriter, at now: Timestamp, version: Int64? = nil) {
        writer.object { writer in
            writer.member("version", version)
            writer.member("user", user)
            writer.member("displayName", displayName)
            writer.member("photoURL", photoURL)
            if isDeleted { writer.member("deleted", true) }
            writer.member("endpoint", endpoint)
            writer.member("state", state.name)
            if let until = ringsUntil {
                writer.member("ringDeadline", until)
                writer.member("remainingMs", max(0, until.milliseconds(since: now)))
            }
            writer.member("pushedAt", pushedAt)
            switch state {
            case .joined(let joining):
                writer.member("joinedAt", joining.since)
                writer.member("detachedAt", joining.detachedAt)
                if joining.hasTakenOver { writer.member("reason", "taken_over") }
            case .left(let joinedAt, let leftAt, let reason):
                writer.member("joinedAt", joinedAt)
                writer.member("leftAt", leftAt)
                writer.member("reason", reason.rawValue)
            default: break
            }
            writer.member("connected", joining?.isConnected ?? false)
            writer.name("media")
            media.write(to: &writer)
            if let quality {
                writer.name("quality")
                quality.write(to: &writer)
            }
        }
    }
}

extension MediaState {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("audio", audio)
            writer.member("video", video)
            writer.member("screen", screen)
            writer.member("held", held)
        }
    }
}

extension QualitySummary {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("loss", loss)
            writer.member("jitter", jitter)
            writer.member("roundTrip", roundTrip)
            writer.member("relayed", relayed)
            writer.member("mos", opinionScore)
            writer.member("seconds", seconds)
        }
    }
}
