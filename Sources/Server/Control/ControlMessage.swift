package import Services

/// A request of the command line to the owner of the data directory: the running server, through its control socket, or
/// the same code in the tool's own process if no server runs.
package enum ControlRequest: Codable, Sendable {
    /// Access tokens for virtual users, who are created if missing: `load-1@load.invalid`, and so on.
    case token(count: Int, prefix: String)
    case accountCreate(email: String, password: String, displayName: String)
    case accountList
    /// Ends every session of the account, closes its sockets and prevents it from signing in.
    case accountDisable(email: String)
    /// Lets a disabled account sign in again.
    case accountEnable(email: String)
    /// Deletes accounts for ever, each named by its e-mail address, its id or `ext:<id>`. In a repetition after a restore,
    /// accounts that do not exist are no error.
    case accountDelete(accounts: [String], isRepetition: Bool)
    case invite(count: Int)
    /// A server key. `expires` is a lifetime such as `90d`; nil for none.
    case keyCreate(name: String, scopes: [String], expires: String?, addresses: [String])
    case keyList
    case keyRotate(id: String)
    case keyRevoke(id: String)
    /// A webhook; without `url` one that is pulled. `events` are types; empty for all.
    case webhookAdd(url: String?, name: String?, events: [String])
    case webhookList
    case webhookRotate(id: String)
    case webhookRemove(id: String)
    case webhookEnable(id: String)
    /// Sends a test event: only in the running server.
    case webhookTest(id: String)
    case webhookReplay(id: String, since: String)
    /// The newest reports of users about others.
    case reportList(count: Int)
    /// Counts of messages and translations by language.
    case languageStatistics
    /// Erases all translations, or those into a language.
    case translationErase(into: String?)
    /// All vectors are compared with their messages, or made anew.
    case vectorRepair
    case vectorReindex
    /// The audit log since a time, or for so long, as text or as JSON.
    case audit(since: String, json: Bool)
    /// Makes a backup in the directory of this absolute path.
    case backup(path: String)
    /// An import of these sources begins, and ends: for the audit log.
    case importBegin(source: String)
    case importEnd(source: String)
    /// A batch of an import. The response has a line for each item.
    case importLines(items: [ImportItem], continues: Bool)
    /// A part of the sound of a voice message that is imported, in Base64, before the line of the message. The response says
    /// what became of it.
    case importSound(source: String, message: String, offset: Int, total: Int, part: String)
    /// An export begins: for the audit log. The response has the scope; `user` names one as `account delete` does.
    case exportBegin(conversation: String?, user: String?)
    /// A part of an export. The first line of the response is the next cursor, or empty.
    case exportPage(scope: ExportScope, cursor: ExportCursor?)
    /// A part of the sound of an exported voice message, from an offset. The response has it in Base64, or no line at the end
    /// and for one that is gone.
    case exportSound(file: String, offset: Int)
    /// Reads the configuration again: only in the running server.
    case reload
    /// Starts or stops draining: only in the running server.
    case drain(isOn: Bool)
    /// Limits of the operating system that are too low for the running server.
    case systemWarnings
    /// A part of `switchboard check`: only in the running server.
    case check(CheckRequest)

    /// Whether it needs the media directory.
    var needsMedia: Bool {
        switch self {
        case .backup, .importBegin, .importEnd, .importLines, .importSound, .exportSound: true
        default: false
        }
    }

    /// Whether it is about vectors, which without an engine nobody makes.
    var needsEmbedder: Bool {
        switch self {
        case .vectorRepair, .vectorReindex: true
        default: false
        }
    }

    /// Whether only a running server can handle it.
    var needsServer: Bool {
        switch self {
        case .reload, .drain, .systemWarnings, .check, .webhookTest: true
        default: false
        }
    }
}

/// The response: lines for standard output, or why the request failed.
package struct ControlResponse: Codable, Sendable {
    package var lines: [String]
    package var error: String?

    package init(lines: [String]) { self.lines = lines }
    package init(error: String) { (lines, self.error) = ([], error) }
}
