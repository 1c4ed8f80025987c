import Transcription

extension OperatorFigures {
    func collect(_ figures: TranscriptionFigures) {
        set("transcription_waiting", figures.waiting)
        set("transcription_running", figures.running)
        set("transcription_oldest_seconds", figures.oldest / .seconds(1))
        set("transcription_retries_total", figures.retries)
        set("transcription_sound_seconds_total", Double(figures.milliseconds) / 1000)
        for (outcome, count) in figures.outcomes {
            set("transcription_jobs_total", count, [("outcome", outcome)])
        }
    }
}
