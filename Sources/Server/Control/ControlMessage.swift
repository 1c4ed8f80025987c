/// What the command line asks of the data directory's owner: the running server through its control socket, or, when no
/// server runs, the same code in the tool's own process.
package enum ControlRequest: Codable, Sendable {
    /// Access tokens for virtual users, who are made where they are missing: `load-1@load.invalid`, and so on.
    case token(count: Int, prefix: String)
    case accountCreate(email: String, password: String, displayName: String)
    case accountList
    /// Ends every session of the account, closes its sockets and keeps it from signing in.
    case accountDisable(email: String)
    /// Lets a disabled account sign in again.
    case accountEnable(email: String)
    case invite(count: Int)
    /// Makes a backup in the directory of this absolute path.
    case backup(path: String)
    /// Reads the configuration again: only in the running server.
    case reload
    /// Refuses new allocations, or no longer: only in the running server.
    case drain(isOn: Bool)
    /// What the system allows the running server too little of.
    case systemWarnings
}

/// The answer: lines for standard output, or why it could not be done.
package struct ControlAnswer: Codable, Sendable {
    package var lines: [String]
    package var error: String?

    package init(lines: [String]) { self.lines = lines }
    package init(error: String) { (lines, self.error) = ([], error) }
}
