import Calls
import Model
import Voice
import WebAPI

extension ServerConfiguration {
    /// How often a user, or before signing up an address, may ask for what.
    var requestLimits: [RequestLimit: RequestRate] {
        func perMinute(_ key: String) -> RequestRate { RequestRate(perMinute: integer(key), burst: integer(key)) }
        let signUps = integer("accounts.signUpsPerHour")
        return [
            .requests: perMinute("limits.requestsPerMinute"), .calls: perMinute("limits.callsPerMinute"),
            .signals: perMinute("limits.signalsPerMinute"), .searches: perMinute("limits.searchesPerMinute"),
            .voiceMessages: perMinute("limits.voiceMessagesPerMinute"),
            .credentials: perMinute("limits.credentialsPerMinute"),
            .signUps: RequestRate(perMinute: max(1, signUps / 60), burst: signUps),
        ]
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
        recordings = configuration.integer("recordings.keepDays")
        voiceMessages = configuration.integer("voice.keepDays")
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
