extension SettingsTable {
    /// Speech to text.
    struct Transcription: Sendable {
        enum Provider: String, CaseIterable, Sendable {
            case none, openai, command, webhook
        }

        let provider = Setting<Provider>(
            "transcription.provider", default: .none, oneOf: Provider.allCases,
            "Who writes down what is said: an endpoint like OpenAI's, a program, a webhook, or nobody.")
        let url = Setting<String>(
            "transcription.url", default: "",
            "Address of the webhook, or of the endpoint up to its version, such as https://api.openai.com/v1.")
        let model = Setting<String>(
            "transcription.model", default: "whisper-1",
            "Model that the endpoint is asked for.")
        let apiKey = Setting<String>(
            "transcription.apiKey", default: "",
            "Key of the endpoint, sent as a bearer token."
        ).secret
        let language = Setting<String>(
            "transcription.language", default: "",
            "Language that is spoken, such as en; empty: the provider finds out.")
        let command = Setting<[String]>(
            "transcription.command", default: [],
            "Program and its arguments; {file} is a WAV file, else PCM comes on its input. Empty: Debian's pocketsphinx."
        )
        let webhookSecret = Setting<String>(
            "transcription.webhookSecret", default: "",
            "Secret by which requests to the webhook are signed, 16 bytes or more."
        ).secret
        let hosted = Setting<Hosting>(
            "transcription.hosted", default: .auto, oneOf: Hosting.allCases,
            "Whether the provider is beyond what you operate yourself, so that only what is said by people who allow that "
                + "goes to it: see languages.defaultLevel. auto: everything is but a program.")
        let allowPrivateAddresses = Setting<Bool>(
            "transcription.allowPrivateAddresses", default: false,
            "Whether the webhook may be at an address that is not of the open Internet.")
        let recordings = Setting<Bool>(
            "transcription.recordings", default: false,
            "Whether recordings of calls are written down when they end; else when somebody asks for it.")
        let concurrency = Setting<Int>(
            "transcription.concurrency", default: 2, in: 1...64,
            "Pieces of speech that are written down at a time.")
        let queueLength = Setting<Int>(
            "transcription.queueLength", default: 64, in: 0...10_000,
            "Pieces that may wait; more are refused.")
        let timeoutSeconds = Setting<Int>(
            "transcription.timeoutSeconds", default: 60, in: 1...3600,
            "Seconds that the provider may take for a piece, each time it is asked.")
        let price = SpeechPrice()
    }

    /// What a hosted service charges for speech.
    struct SpeechPrice: Sendable {
        let minute = Setting<Double>(
            "transcription.price.minute", default: 0, in: 0...10_000,
            "Dollars for a minute of speech that the provider transcribes, by which what it costs is counted. 0: nobody knows."
        )
    }
}
