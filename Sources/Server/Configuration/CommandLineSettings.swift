/// The command line's settings, checked before they are read.
enum CommandLineSettings {
    /// Throws a `ConfigurationError` that names the first argument that is no setting, that repeats one, or that is the value
    /// of none.
    static func check(_ arguments: [String]) throws(ConfigurationError) {
        let settings = Dictionary(
            SettingsTable.all.map { (ServerConfiguration.flag(for: $0.key), $0) },
            uniquingKeysWith: { first, _ in first })
        var given: Set<String> = []
        // Values that may follow.
        var values = 0
        for argument in arguments {
            // A negative number is a value, not a flag.
            guard argument.hasPrefix("-"), Int(argument) == nil else {
                guard values > 0 else {
                    throw ConfigurationError(
                        "Unexpected argument \(argument): leave it out, or write the option whose value it is before it."
                    )
                }
                values -= 1
                continue
            }
            let name = argument.split(separator: "=", maxSplits: 1).first.map(String.init) ?? argument
            guard let setting = settings[name] else {
                let names = settings.keys.sorted()
                throw ConfigurationError(
                    "Unknown option \(name).\(SimilarNames.question(SimilarNames.of(name, among: names))) Options are named "
                        + "after settings, such as --http-port for http.port.")
            }
            guard !setting.isOnlyInFiles else {
                throw ConfigurationError(
                    "\(name) is not read from the command line: set \(setting.key) in the configuration file.")
            }
            guard given.insert(name).inserted || setting.isList else {
                throw ConfigurationError("\(name) is given twice: give it once. Only lists may repeat their option.")
            }
            values = argument.contains("=") ? 0 : setting.isList ? .max : 1
        }
    }
}
