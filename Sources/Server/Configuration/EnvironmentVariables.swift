/// The environment's variables that are settings: those that begin with `SWITCHBOARD_`.
enum EnvironmentVariables {
    private static let prefix = "SWITCHBOARD_"

    /// The variables of settings in `environment`. Leaves out what Kubernetes adds for a service with this name.
    ///
    /// Throws a `ConfigurationError` that names the first other variable, and the nearest known one.
    static func settings(in environment: [String: String]) throws(ConfigurationError) -> [String: String] {
        let inFiles = Set(SettingsTable.all.filter(\.isOnlyInFiles).map { ServerConfiguration.variable(for: $0.key) })
        let names = SettingsTable.all.map { ServerConfiguration.variable(for: $0.key) }.filter { !inFiles.contains($0) }
        let known = Set(names)
        var settings: [String: String] = [:]
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
            if isFromKubernetes(name, value) { continue }
            guard !inFiles.contains(name) else {
                throw ConfigurationError("\(name) is not read from the environment: set it in the configuration file.")
            }
            guard known.contains(name) else {
                throw ConfigurationError(
                    "The environment's \(name) is not a setting.\(SimilarNames.question(SimilarNames.of(name, among: names))) "
                        + "Unset it, or correct its name: variables are named after settings, such as "
                        + "SWITCHBOARD_HTTP_PORT for http.port.")
            }
            settings[name] = value
        }
        return settings
    }

    /// Whether Kubernetes made the variable for a service whose name begins with `switchboard`. It gives every
    /// container of the namespace `…_SERVICE_HOST`, `…_SERVICE_PORT`, `…_SERVICE_PORT_<name>`, and, like Docker's links,
    /// `…_PORT` and `…_PORT_<number>_<protocol>` with `_PROTO`, `_PORT` and `_ADDR`.
    ///
    /// `…_PORT` may also be a setting, so its value decides: Kubernetes' is a URL such as `tcp://10.0.0.11:8080`.
    private static func isFromKubernetes(_ name: String, _ value: String) -> Bool {
        let words = name.split(separator: "_", omittingEmptySubsequences: false).dropFirst()
        if words.last == "PORT", ["tcp://", "udp://", "sctp://"].contains(where: { value.hasPrefix($0) }) {
            return true
        }
        for (index, word) in zip(words.indices, words) {
            let rest = words[(index + 1)...]
            if word == "SERVICE", rest == ["HOST"] || rest.first == "PORT" { return true }
            if word == "PORT", let number = rest.first, !number.isEmpty, number.allSatisfy(\.isNumber),
                let transport = rest.dropFirst().first, ["TCP", "UDP", "SCTP"].contains(transport)
            {
                return true
            }
        }
        return false
    }
}
