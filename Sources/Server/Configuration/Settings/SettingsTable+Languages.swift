import Languages

extension SettingsTable {
    /// The languages of messages.
    struct Languages: Sendable {
        enum Identification: String, CaseIterable, Sendable {
            case none, cld2, eldc
        }

        let identification = Setting<Identification>(
            "languages.identification", default: .cld2, oneOf: Identification.allCases,
            "What finds out in which language a message is: a library that is built in, the better one of `eldcLibrary`, or "
                + "nothing.")
        let eldcLibrary = Setting<String>(
            "languages.eldcLibrary", default: "",
            "Path of libeldc.so, which Scripts/setup --engines builds.")
    }
}