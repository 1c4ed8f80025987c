import Calls
import Model
import Realtime
import Services
import Voice
import WebAPI

extension ServerConfiguration {
    /// How often a user, or before signing up an address, may ask for what.
    var requestLimits: [RequestLimit: RequestRate] {
        func perMinute(_ setting: KeyPath<SettingsTable, Setting<Int>>, times users: Int = 1) -> RequestRate {
            .perMinute(self[setting] * users, burst: self[setting] * users)
        }
        let translations = self[\.limits.translationsPerMinute]
        return [
            .address: perMinute(\.limits.requestsPerMinute, times: RequestAuthenticator.usersPerAddress),
            .requests: perMinute(\.limits.requestsPerMinute), .calls: perMinute(\.limits.callsPerMinute),
            .signals: perMinute(\.limits.signalsPerMinute), .searches: perMinute(\.limits.searchesPerMinute),
            // Each may be of much text. At once what somebody asks for who comes back to several conversations.
            .translations: .perMinute(translations, burst: min(translations, max(20, translations / 4))),
            .hints: perMinute(\.limits.hintsPerMinute), .writing: perMinute(\.limits.writingPerMinute),
            .assistant: perMinute(\.limits.questionsPerMinute),
            .voiceMessages: perMinute(\.limits.voiceMessagesPerMinute), .photos: perMinute(\.limits.photosPerMinute),
            .credentials: perMinute(\.limits.credentialsPerMinute),
            .friendRequests: .perHour(self[\.limits.friendRequestsPerHour]),
            .conversations: .perHour(self[\.limits.conversationsPerHour]),
            .exports: .perHour(self[\.limits.exportsPerHour]),
            .messages: perMinute(\.limits.messagesPerMinute),
            .allMessages: perMinute(\.limits.messagesPerMinute, times: RequestAuthenticator.busyConversations),
            // In KiB. At once at least what one request may have.
            .messageSizes: .perMinute(
                self[\.limits.messagesPerMinute] * 4, burst: max(1024, self[\.limits.messagesPerMinute] * 2)),
            .writtenBytes: .bytesPerDay(self[\.limits.textBytesPerDay]),
            .serverKeys: perMinute(\.limits.keyRequestsPerMinute),
            .signUps: .perHour(self[\.accounts.signUpsPerHour]),
        ]
    }
}

extension ServerConfiguration {
    /// What the operator has disabled.
    var disabledFeatures: Set<Feature> {
        Set(
            Feature.allCases.filter { feature in
                switch feature {
                case .friends: !self[\.features.friends]
                case .userSearch: !self[\.features.userSearch]
                case .messageSearch: !self[\.features.messageSearch]
                case .groups: !self[\.features.groups]
                case .inviteLinks: !self[\.features.inviteLinks]
                }
            })
    }
}

extension RealtimeLimits {
    init(_ configuration: ServerConfiguration) {
        self.init()
        sessionsPerUser = configuration[\.limits.sessionsPerUser]
    }
}

extension CallRules {
    init(_ configuration: ServerConfiguration) {
        self.init()
        ringSeconds = Int64(configuration[\.calls.ringSeconds])
        setupSeconds = Int64(configuration[\.calls.setupSeconds])
        participantLimit = configuration[\.calls.maxParticipants]
        recordingSeconds = Int64(configuration[\.recordings.maxSeconds])
        quota = MediaQuota(configuration)
    }
}

extension Retention.Days {
    init(_ configuration: ServerConfiguration) {
        self.init(
            recordings: configuration[\.recordings.keepDays],
            voiceMessages: configuration[\.voice.keepDays])
    }
}

extension VoiceRules {
    init(_ configuration: ServerConfiguration) {
        self.init()
        byteLimit = configuration[\.voice.maxBytes]
        secondsLimit = configuration[\.voice.maxSeconds]
        quota = MediaQuota(configuration)
    }
}

extension MediaQuota {
    init(_ configuration: ServerConfiguration) {
        self.init(userBytes: Int64(configuration[\.media.userBytes]))
    }
}
