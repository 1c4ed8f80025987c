import Transcription

extension ServerMetrics {
    func collect(_ stats: TranscriptionStats) {
        set("transcription_waiting", stats.waiting)
        set("transcription_running", stats.running)
        set("transcription_oldest_seconds", stats.oldest / .seconds(1))
        set("transcription_retries_total", stats.retries)
        set("transcription_audio_seconds_total", Double(stats.milliseconds) / 1000)
        for (outcome, count) in stats.outcomes {
            set("transcription_jobs_total", count, [("outcome", outcome)])
        }
    }
}
