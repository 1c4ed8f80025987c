extension SettingsTable {
    /// Speech to text.
    struct Transcription: Sendable {
        enum Provider: String, CaseIterable, Sendable {
            case none, openai, command, webhook
        }

        let provider = Setting<Provider>(
            "transcription.provider", default: .none, oneOf: Provider.allCases,
            "The provider that transcribes speech: an endpoint like OpenAI's, a program, a webhook, or none.")
        let url = Setting<String>(
            "transcription.url", default: "",
            "Address of the webhook, or of the endpoint up to its version, such as https://api.openai.com/v1.")
        let model = Setting<String>(
            "transcription.model", default: "whisper-1",
            "Name of the model in requests to the endpoint.")
        let apiKey = Setting<String>(
            "transcription.apiKey", default: "",
            "Key of the endpoint, sent as a bearer token."
        ).secret
        let language = Setting<String>(
            "transcription.language", default: "",
            "Language that is spoken, such as en; empty: the provider finds out.")
        let command = Setting<[String]>(
            "transcription.command", default: [],
            "Program and its arguments; {file} is a WAV file, else PCM comes on its input. Empty: Debian's "
                + "pocketsphinx."
        )
        let webhookSecret = Setting<String>(
            "transcription.webhookSecret", default: "",
            "Secret by which requests to the webhook are signed, 16 bytes or more."
        ).secret
        let hosted = Setting<Hosting>(
            "transcription.hosted", default: .auto, oneOf: Hosting.allCases,
            "Whether somebody else operates the provider, so that it gets only the speech of people who allow "
                + "that: see languages.defaultLevel. auto: true for everything but a program.")
        let allowPrivateAddresses = Setting<Bool>(
            "transcription.allowPrivateAddresses", default: false,
            "Whether the webhook may be at a private address.")
        let recordings = Setting<Bool>(
            "transcription.recordings", default: false,
            "Whether recordings of calls are transcribed when they end; otherwise when somebody asks for it.")
        let concurrency = Setting<Int>(
            "transcription.concurrency", default: 2, in: 1...64,
            "Pieces of speech that are transcribed at a time.")
        let queueLength = Setting<Int>(
            "transcription.queueLength", default: 64, in: 0...10_000,
            "Pieces that may wait; more are refused.")
        let timeoutSeconds = Setting<Int>(
            "transcription.timeoutSeconds", default: 60, in: 1...3600,
            "Seconds that the provider may take for a piece, in each attempt.")
        let price = SpeechPrice()
    }

    /// What a hosted service charges for speech.
    struct SpeechPrice: Sendable {
        let minute = Setting<Double>(
            "transcription.price.minute", default: 0, in: 0...10_000,
            "Dollars for a minute of speech that the provider transcribes, to count the costs. 0: not known."
        )
    }
}
