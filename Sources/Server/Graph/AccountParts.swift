import Accounts
import AsyncHTTPClient
import Foundation
import Friends
import Logging
import MediaFiles
import Model
import PasswordHashing
import Services
import Storage
import Tokens

/// The keys and the accounts, which the server and the command line both need.
struct AccountParts: Sendable {
    let tokens: AccessTokens
    let verifier: TokenVerifier
    let accounts: AccountCommands
    let friends: FriendCommands
    let keys: ServerKeyService
    let webhooks: WebhookParts
    private let storage: StorageParts
    private let sounds: ImportAudioFiles

    /// Milliseconds of a monotonic clock.
    static let uptime: @Sendable () -> Int64 = { Int64(ProcessInfo.processInfo.systemUptime * 1000) }

    init(
        _ configuration: ServerConfiguration, _ storage: StorageParts, directory: DataDirectory,
        signInsEnded: @escaping @Sendable (UserID, [SignInID]) -> Void = { _, _ in },
        userDisabled: @escaping @Sendable (UserID) -> Void = { _ in },
        userDeleted: @escaping @Sendable (UserID) -> Void = { _ in }
    ) async throws {
        self.storage = storage
        sounds = ImportAudioFiles(store: storage.store, secrets: SystemSecrets())
        let (key, warning) = try SigningKey.load(from: directory.file("signing-key.pem"))
        if let warning { Logger(label: "accounts").warning("\(warning)") }
        tokens = AccessTokens(key: key)
        accounts = AccountCommands(
            database: storage.store, passwords: Argon2Hasher(), secrets: SystemSecrets(), tokens: tokens,
            settings: AccountSettings(
                signUp: configuration[\.accounts.signUp],
                quota: MediaQuota(configuration)),
            uptime: Self.uptime, signInsEnded: signInsEnded, userDisabled: userDisabled, userDeleted: userDeleted)
        friends = FriendCommands(database: storage.store, secrets: SystemSecrets())
        let issuers = configuration[\.accounts.issuers].map { record in
            ExternalIssuer(
                issuer: record["issuer"] ?? "", audience: record["audience"] ?? "", jwksURL: record["jwksURL"] ?? "")
        }
        let accounts = accounts
        verifier = TokenVerifier(
            own: tokens, external: ExternalIssuers(issuers, client: .shared, uptime: Self.uptime),
            user: { try await accounts.user(of: $0) }, clock: Timestamp.systemClock)
        try await accounts.loadRevocations()
        try await accounts.loadPasswordKinds()
        keys = ServerKeyService(
            database: storage.store, secrets: SystemSecrets(),
            audit: AuditLog(database: storage.store, logger: Logger(label: "audit")), clock: Timestamp.systemClock)
        try await keys.load()
        webhooks = try WebhookParts(configuration, store: storage.store, directory: directory, audit: keys.audit)
    }

    /// Handles a request of the command line.
    ///
    /// - Parameters:
    ///   - media: the directory of media files, for the requests that need it.
    ///   - isServing: whether this is the running server.
    func handle(_ request: ControlRequest, media: MediaFiles?, isServing: Bool = true) async -> ControlResponse {
        if request.needsMedia, media == nil { return ControlResponse(error: "The media directory is not there.") }
        do {
            switch request {
            case .token(let count, let prefix):
                let users = try await accounts.virtualUsers(count: count, prefix: prefix)
                try await record("token.create")
                return ControlResponse(
                    lines: users.map { user in
                        var writer = JSONWriter()
                        writer.object { writer in
                            writer.member("user", user.user)
                            writer.member("token", user.accessToken)
                        }
                        return writer.text
                    })
            case .accountCreate(let email, let password, let displayName):
                let me = try await accounts.createAccount(email: email, password: password, displayName: displayName)
                try await record("account.create", me.id)
                return ControlResponse(lines: [me.id.text])
            case .accountList:
                var lines: [String] = []
                var cursor: String?
                repeat {
                    let page = try await accounts.accounts(cursor: cursor)
                    lines += page.items.map { user in
                        [
                            user.id.text, user.email ?? "-", user.displayName,
                            user.deletedAt != nil ? "deleted" : user.disabledAt == nil ? "active" : "disabled",
                        ]
                        .joined(separator: "\t")
                    }
                    cursor = page.nextCursor
                } while cursor != nil
                return ControlResponse(lines: lines)
            case .accountDisable(let email):
                let me = try await accounts.setDisabled(true, email: email)
                try await record("account.disable", me.id)
                return ControlResponse(lines: ["\(me.email ?? email) is disabled and signed out everywhere."])
            case .accountEnable(let email):
                let me = try await accounts.setDisabled(false, email: email)
                try await record("account.enable", me.id)
                return ControlResponse(lines: ["\(me.email ?? email) may sign in again."])
            case .accountDelete(let references, let isRepetition):
                return try await delete(references, isRepetition: isRepetition)
            case .backup(let path):
                let lines = try await BackupWork(source: storage.database, files: media).run(to: path)
                try await record("backup")
                return ControlResponse(lines: lines)
            case .reportList(let count):
                return ControlResponse(lines: try await friends.reports(limit: count).map(\.line))
            case .languageStatistics:
                return try await ControlResponse(languagesOf: storage.store, hitRate: nil)
            case .translationErase(let into):
                let count = try await storage.store.eraseTranslations(into: into)
                try await record("translations.erase", into)
                return ControlResponse(lines: ["\(count) translations are erased."])
            case .vectorRepair:
                let response = try await ControlResponse(vectorRepairOf: storage.store, isServing: isServing)
                try await record("vectors.repair")
                return response
            case .vectorReindex:
                let response = try await ControlResponse(vectorReindexOf: storage.store, isServing: isServing)
                try await record("vectors.reindex")
                return response
            case .keyCreate, .keyList, .keyRotate, .keyRevoke, .audit:
                return try await keys.handle(request) ?? ControlResponse(error: "This request is unknown.")
            case .webhookAdd, .webhookList, .webhookRotate, .webhookRemove, .webhookEnable, .webhookTest,
                .webhookReplay:
                return try await webhooks.commands.handle(request)
                    ?? ControlResponse(error: "This request is unknown.")
            case .importBegin(let source):
                try await record("import.begin", source)
                if let media { try await sounds.reset(in: media) }
                return ControlResponse(lines: [])
            case .importEnd(let source):
                try await record("import.end", source)
                if let media { try await sounds.reset(in: media) }
                return ControlResponse(lines: [])
            case .importLines(let items, let continues):
                guard let media else { break }
                let importer = Importer(
                    store: storage.store, accounts: accounts, secrets: SystemSecrets(), sounds: sounds, files: media)
                return ControlResponse(try await importer.run(items, continues: continues))
            case .importSound(let source, let message, let offset, let total, let part):
                guard let media, let bytes = Data(base64Encoded: part) else { break }
                return ControlResponse(
                    try await sounds.take(Array(bytes), at: offset, of: total, for: message, source, into: media))
            case .exportBegin(let conversation, let user):
                let (scope, subject) = try await exportScope(conversation, user)
                try await record("export", subject)
                return try ControlResponse(json: scope)
            case .exportPage(let scope, let cursor):
                return try await ControlResponse(exporting: scope, after: cursor, Exporter(store: storage.store))
            case .exportSound(let file, let offset):
                guard let media else { break }
                return try await ControlResponse(sound: file, from: offset, storage.store, media)
            case .reload, .drain, .systemWarnings, .check:
                return ControlResponse(error: "No server is running on the data directory of storage.path.")
            case .invite(let count):
                let codes = try await accounts.createInvites(count: count)
                try await record("account.invite")
                return ControlResponse(lines: codes)
            }
            return ControlResponse(error: "This request is unknown.")
        } catch let problem as Problem {
            return ControlResponse(error: problem.detail)
        } catch {
            return ControlResponse(error: "\(error)")
        }
    }

    /// Deletes accounts.
    ///
    /// - Parameter isRepetition: whether accounts that do not exist are no error, as after a restore.
    private func delete(_ references: [String], isRepetition: Bool) async throws -> ControlResponse {
        let accounts = try references.map { try AccountReference($0) }
        var (deleted, before, unknown) = (0, 0, 0)
        for account in accounts {
            do {
                if let entry = try await self.accounts.deleteAccount(account) {
                    keys.audit.log(entry)
                    deleted += 1
                } else {
                    before += 1
                }
            } catch let problem as Problem where problem.kind == .notFound && isRepetition {
                unknown += 1
            }
        }
        if isRepetition {
            return ControlResponse(lines: [
                "\(deleted) accounts are deleted, \(before) were deleted before, \(unknown) are not in this database."
            ])
        }
        return ControlResponse(lines: [
            deleted > 0
                ? "The account is deleted, and signed out everywhere. A running server erases the rest within a minute."
                : "The account was deleted before."
        ])
    }

    /// Adds a command of the operator to the audit log.
    private func exportScope(
        _ conversation: String?, _ user: String?
    ) async throws -> (scope: ExportScope, subject: String?) {
        if let conversation {
            guard let id = ConversationID(conversation) else {
                throw Problem.invalid("conversation", "--conversation is the id of a conversation.")
            }
            return (.conversation(id), conversation)
        }
        guard let user else { return (.all, nil) }
        let reference = try AccountReference(user)
        let found = try await accounts.user(of: reference)
        return (.user(found), found.text)
    }

    private func record(_ action: String, _ user: UserID) async throws { try await record(action, user.text) }

    /// - Parameter subject: what it is about.
    private func record(_ action: String, _ subject: String? = nil) async throws {
        try await keys.audit.write(AuditEntry(actor: .commandLine, action: action, subject: subject))
    }
}
