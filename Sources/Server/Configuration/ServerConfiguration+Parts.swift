import Calls
import Model
import Realtime
import Services
import Voice
import WebAPI

extension ServerConfiguration {
    /// How often a user, or before signing up an address, may ask for what.
    var requestLimits: [RequestLimit: RequestRate] {
        func perMinute(_ key: String, times users: Int = 1) -> RequestRate {
            .perMinute(integer(key) * users, burst: integer(key) * users)
        }
        return [
            .address: perMinute("limits.requestsPerMinute", times: RequestAuthenticator.usersPerAddress),
            .requests: perMinute("limits.requestsPerMinute"), .calls: perMinute("limits.callsPerMinute"),
            .signals: perMinute("limits.signalsPerMinute"), .searches: perMinute("limits.searchesPerMinute"),
            .voiceMessages: perMinute("limits.voiceMessagesPerMinute"), .photos: perMinute("limits.photosPerMinute"),
            .credentials: perMinute("limits.credentialsPerMinute"),
            .signUps: .perHour(integer("accounts.signUpsPerHour")),
        ]
    }
}

extension RealtimeLimits {
    init(_ configuration: ServerConfiguration) {
        self.init()
        sessionsPerUser = configuration.integer("limits.sessionsPerUser")
    }
}

extension CallRules {
    init(_ configuration: ServerConfiguration) {
        self.init()
        ringSeconds = Int64(configuration.integer("calls.ringSeconds"))
        setupSeconds = Int64(configuration.integer("calls.setupSeconds"))
        participantLimit = configuration.integer("calls.maxParticipants")
        recordingSeconds = Int64(configuration.integer("recordings.maxSeconds"))
        quota = MediaQuota(configuration)
    }
}

extension Retention.Days {
    init(_ configuration: ServerConfiguration) {
        self.init(
            recordings: configuration.integer("recordings.keepDays"),
            voiceMessages: configuration.integer("voice.keepDays"))
    }
}

extension VoiceRules {
    init(_ configuration: ServerConfiguration) {
        self.init()
        byteLimit = configuration.integer("voice.maxBytes")
        secondsLimit = configuration.integer("voice.maxSeconds")
        quota = MediaQuota(configuration)
    }
}

extension MediaQuota {
    init(_ configuration: ServerConfiguration) {
        self.init(userBytes: Int64(configuration.integer("media.userBytes")))
    }
}
