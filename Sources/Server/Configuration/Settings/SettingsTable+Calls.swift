extension SettingsTable {
    /// Calls.
    struct Calls: Sendable {
        let ringSeconds = Setting<Int>(
            "calls.ringSeconds", default: 60, in: 10...120,
            "How long a call rings unless the caller says so.")
        let setupSeconds = Setting<Int>(
            "calls.setupSeconds", default: 20, in: 1...120,
            "How long after the accept the parties may take to connect; thrice that through the gateway.")
        let leaseSeconds = Setting<Int>(
            "calls.leaseSeconds", default: 30, in: 1...300,
            "How long a participant of whom nothing is heard stays in the call.")
        let maxParticipants = Setting<Int>(
            "calls.maxParticipants", default: 50, in: 2...50,
            "Participants in one call.")
    }

    /// How much a user may do.
    struct Limits: Sendable {
        let callsPerMinute = Setting<Int>(
            "limits.callsPerMinute", default: 30, in: 1...1_000_000,
            "Calls that a user may create a minute."
        ).live
        let signalsPerMinute = Setting<Int>(
            "limits.signalsPerMinute", default: 600, in: 1...1_000_000,
            "Signals that a user may send a minute."
        ).live
        let voiceMessagesPerMinute = Setting<Int>(
            "limits.voiceMessagesPerMinute", default: 30, in: 1...1_000_000,
            "Voice messages that a user may send a minute."
        ).live
        let photosPerMinute = Setting<Int>(
            "limits.photosPerMinute", default: 10, in: 1...1_000_000,
            "Photos that a user may upload a minute."
        ).live
        let translationsPerMinute = Setting<Int>(
            "limits.translationsPerMinute", default: 120, in: 1...1_000_000,
            "Requests for translations that a user may make a minute, each of up to 50 messages; at once a quarter of them, or "
                + "20. Replacing a glossary counts as three."
        ).live
        let hintsPerMinute = Setting<Int>(
            "limits.hintsPerMinute", default: 120, in: 1...1_000_000,
            "Messages that a user may have explained a minute."
        ).live
        let writingPerMinute = Setting<Int>(
            "limits.writingPerMinute", default: 30, in: 1...1_000_000,
            "Drafts that a user may have checked and rewritten, and replies suggested, a minute."
        ).live
        let questionsPerMinute = Setting<Int>(
            "limits.questionsPerMinute", default: 20, in: 1...1_000_000,
            "Requests to the assistant that a user may make a minute, each of up to ten questions."
        ).live
        let searchesPerMinute = Setting<Int>(
            "limits.searchesPerMinute", default: 60, in: 1...1_000_000,
            "Searches for people, and for messages, that a user may make a minute."
        ).live
        let friendRequestsPerHour = Setting<Int>(
            "limits.friendRequestsPerHour", default: 50, in: 1...1_000_000,
            "Requests to become friends that a user may make an hour."
        ).live
        let conversationsPerHour = Setting<Int>(
            "limits.conversationsPerHour", default: 200, in: 1...1_000_000,
            "Conversations that a user may create, and requests to add people, an hour."
        ).live
        let exportsPerHour = Setting<Int>(
            "limits.exportsPerHour", default: 20, in: 1...1_000_000,
            "Exports of conversations that a user may make an hour."
        ).live
        let messagesPerMinute = Setting<Int>(
            "limits.messagesPerMinute", default: 600, in: 1...10_000_000,
            "Messages that a user may send or edit in one conversation a minute; in all together: five times as many. Four "
                + "KiB of longer ones for each."
        ).live
        let textBytesPerDay = Setting<Int>(
            "limits.textBytesPerDay", default: 67_108_864, in: 65_536...1_000_000_000,
            "Bytes of messages, edits and drafts that a user may write at once; as many come back over a day."
        ).live
        let keyRequestsPerMinute = Setting<Int>(
            "limits.keyRequestsPerMinute", default: 6000, in: 1...1_000_000,
            "Requests with one server key a minute."
        ).live
        let credentialsPerMinute = Setting<Int>(
            "limits.credentialsPerMinute", default: 30, in: 1...1_000_000,
            "Relay credentials for a user a minute."
        ).live
        let sessionsPerUser = Setting<Int>(
            "limits.sessionsPerUser", default: 64, in: 1...1_000_000,
            "Realtime sessions of a user at a time: each tab and each app has one.")
        let requestsPerMinute = Setting<Int>(
            "limits.requestsPerMinute", default: 1200, in: 1...10_000_000,
            "All other requests of a user a minute; all requests of an address together: 20 times as many."
        ).live
    }
}
