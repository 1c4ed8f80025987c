extension SettingsTable {
    /// Voice messages.
    struct Voice: Sendable {
        let maxBytes = Setting<Int>(
            "voice.maxBytes", default: 8 * 1024 * 1024, in: 1024...67_108_864,
            "Bytes of a voice message, as it is uploaded.")
        let maxSeconds = Setting<Int>(
            "voice.maxSeconds", default: 300, in: 1...1800,
            "Seconds that a voice message lasts.")
        let keepDays = Setting<Int>(
            "voice.keepDays", default: 0, in: 0...36_500,
            "Days after which voice messages are removed; 0: they are kept for ever.")
    }

    /// Recordings of calls.
    struct Recordings: Sendable {
        let maxSeconds = Setting<Int>(
            "recordings.maxSeconds", default: 4 * 3600, in: 1...86_400,
            "Seconds after which the recording of a call ends by itself.")
        let keepDays = Setting<Int>(
            "recordings.keepDays", default: 0, in: 0...36_500,
            "Days after which recordings of calls are removed; 0: they are kept for ever.")
    }

    /// Files of media.
    struct Media: Sendable {
        let minFreeBytes = Setting<Int>(
            "media.minFreeBytes", default: 256 * 1024 * 1024, in: 0...1_000_000_000_000,
            "Bytes that stay free on the disk of storage.path: with less, nothing more is recorded or uploaded.")
        let userBytes = Setting<Int>(
            "media.userBytes", default: 5 * 1024 * 1024 * 1024, in: 0...1_000_000_000_000_000,
            "Bytes of files that may count for one user: what they sent, and what they had recorded. 0: as many as there "
                + "is room for.")
        let linkSeconds = Setting<Int>(
            "media.linkSeconds", default: 3600, in: 60...86_400,
            "How long the address of a sound is good for, of a voice message or of a recording.")
    }
}
