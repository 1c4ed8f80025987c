/// Maps Whisper's English names of languages to BCP 47 tags.
enum LanguageNames {
    /// The BCP 47 tag of a language that a provider named, or nil when it is not a name.
    static func code(_ language: String) -> String? {
        let name = language.lowercased()
        if let code = codes[name] { return code }
        let isName = (2...35).contains(name.utf8.count) && name.utf8.allSatisfy { $0 < 0x80 }
        guard isName, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" }) else { return nil }
        return language
    }

    private static let codes: [String: String] = [
        "afrikaans": "af", "albanian": "sq", "amharic": "am", "arabic": "ar", "armenian": "hy", "assamese": "as",
        "azerbaijani": "az", "bashkir": "ba", "basque": "eu", "belarusian": "be", "bengali": "bn", "bosnian": "bs",
        "breton": "br", "bulgarian": "bg", "burmese": "my", "cantonese": "yue", "castilian": "es", "catalan": "ca",
        "chinese": "zh", "croatian": "hr", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en",
        "estonian": "et", "faroese": "fo", "finnish": "fi", "flemish": "nl", "french": "fr", "galician": "gl",
        "georgian": "ka", "german": "de", "greek": "el", "gujarati": "gu", "haitian creole": "ht", "hausa": "ha",
        "hawaiian": "haw", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "icelandic": "is", "indonesian": "id",
        "italian": "it", "japanese": "ja", "javanese": "jv", "kannada": "kn", "kazakh": "kk", "khmer": "km",
        "korean": "ko", "lao": "lo", "latin": "la", "latvian": "lv", "lingala": "ln", "lithuanian": "lt",
        "luxembourgish": "lb", "macedonian": "mk", "malagasy": "mg", "malay": "ms", "malayalam": "ml", "maltese": "mt",
        "mandarin": "zh", "maori": "mi", "marathi": "mr", "mongolian": "mn", "nepali": "ne", "norwegian": "no",
        "nynorsk": "nn", "occitan": "oc", "pashto": "ps", "persian": "fa", "polish": "pl", "portuguese": "pt",
        "punjabi": "pa", "romanian": "ro", "russian": "ru", "sanskrit": "sa", "serbian": "sr", "shona": "sn",
        "sindhi": "sd", "sinhala": "si", "slovak": "sk", "slovenian": "sl", "somali": "so", "spanish": "es",
        "sundanese": "su", "swahili": "sw", "swedish": "sv", "tagalog": "tl", "tajik": "tg", "tamil": "ta",
        "tatar": "tt", "telugu": "te", "thai": "th", "tibetan": "bo", "turkish": "tr", "turkmen": "tk",
        "ukrainian": "uk", "urdu": "ur", "uzbek": "uz", "vietnamese": "vi", "welsh": "cy", "yiddish": "yi",
        "yoruba": "yo",
    ]
}
