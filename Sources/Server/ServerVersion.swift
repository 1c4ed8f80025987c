/// The version of this server, which `--version`, `GET /v1/server`, the result of a `hello` and `/openapi.json` name.
package enum ServerVersion {
    /// The version (SemVer), written by `Scripts/release`; the SDK of the same release has the same.
    package static let text = "0.1.0"
}

/// A part of Switchboard that a process may run.
package enum ServerRole: String, CaseIterable, Sendable {
    case api
    case relay
    case gateway

    /// Reads a list such as `api,relay`. Throws a `ConfigurationError` that says what is allowed.
    package static func parse(_ list: String) throws -> Set<ServerRole> {
        var roles: Set<ServerRole> = []
        for name in list.split(separator: ",") {
            guard let role = ServerRole(rawValue: String(name)) else {
                throw ConfigurationError(
                    "Unknown role \(name): --role takes \(allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            roles.insert(role)
        }
        guard !roles.isEmpty else {
            throw ConfigurationError(
                "--role names no role: give one or more of \(allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard !roles.contains(.gateway) || roles.contains(.api) else {
            throw ConfigurationError(
                "The gateway needs the api in the same process, which makes its calls: use --role "
                    + "\(allCases.filter { roles.contains($0) || $0 == .api }.map(\.rawValue).joined(separator: ",")), "
                    + "or leave out gateway.")
        }
        return roles
    }
}
