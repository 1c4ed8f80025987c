import Assistant
import Languages
import Messaging
import Model
import Storage

/// Looks things up for a run, as its user and within its scope, whatever the model asks for.
struct AssistantReader: Sendable {
    private static let found = 10
    private static let around = 5
    private static let items = 20
    private static let people = 40
    private static let membersOfConversation = 100
    /// Conversations whose tasks are looked for where none is named.
    private static let summarised = 5
    private static let translationTimeout = Duration.seconds(10)

    let run: AssistantRun
    let store: Store
    let commands: ConversationCommands
    let search: MessageSearchService
    let summaries: SummaryService
    let translator: TextTranslator
    var sources: AssistantSources

    private var user: UserID { run.user }
    private var isForAll: Bool { run.scope.audience == .conversation }

    /// The conversations that the model is told of in the beginning.
    mutating func begin() async throws -> [(handle: String, name: String, isDirect: Bool)] {
        let found = try await conversations()
        return found.prefix(Self.items).compactMap { one in
            sources.show(one.found.conversation.id).map { ($0, one.name, one.found.conversation.kind == .direct) }
        }
    }

    /// What a tool returns, as JSON text.
    mutating func use(_ call: ModelToolCall) async throws -> String {
        do throws(ToolRefusal) {
            guard let tool = AssistantTool(rawValue: call.name) else {
                throw ToolRefusal("There is no tool of this name.")
            }
            let arguments = try ToolArguments(call)
            do {
                return Self.cut(try await use(tool, arguments))
            } catch let refusal as ToolRefusal {
                throw refusal
            } catch let problem as Problem where problem.kind != .internalError {
                throw ToolRefusal(Self.reason(problem))
            } catch is CancellationError {
                throw ToolRefusal("It was cancelled.")
            } catch {
                throw ToolRefusal("It did not work.")
            }
        } catch {
            return error.json
        }
    }

    private static func reason(_ problem: Problem) -> String {
        switch problem.kind {
        case .notFound, .forbidden: "There is no such thing."
        case .rateLimited: "Too much was asked for: answer with what you have."
        default: problem.detail
        }
    }

    /// A result that is too long says so, and is whole JSON all the same.
    private static func cut(_ json: String) -> String {
        json.utf8.count <= AssistantPrompt.maxResult ? json : ToolRefusal("That is too much: ask for less.").json
    }

    private mutating func use(_ tool: AssistantTool, _ arguments: ToolArguments) async throws -> String {
        switch tool {
        case .search: try await search(arguments)
        case .around: try await around(arguments)
        case .summarise: try await summary(arguments, [.point, .action, .decision, .question])
        case .actions: try await summary(arguments, [.action])
        case .decisions: try await summary(arguments, [.decision])
        case .priority: try await priority(arguments)
        case .translate: try await translation(arguments)
        case .people: try await people(arguments)
        }
    }

    // MARK: Where

    private struct NamedConversation: Sendable {
        var found: MemberConversation
        var name: String
    }

    /// Those that may be looked at.
    private func conversations() async throws -> [NamedConversation] {
        let (commands, run, isForAll) = (commands, run, isForAll)
        return try await store.longRead { store in
            var found: [MemberConversation]
            if let id = run.scope.conversation {
                found = [
                    try commands.readableConversation(
                        id, isForAll: isForAll, by: run.user, model: run.model, isHosted: run.isHosted, in: store)
                ]
            } else {
                found = try commands.readableConversations(of: run.user, isHosted: run.isHosted, in: store)
            }
            return try found.map { NamedConversation(found: $0, name: try Self.name(of: $0, for: run.user, store)) }
        }
    }

    /// Of a direct one it is the other's.
    private static func name(
        of found: MemberConversation, for user: UserID, _ store: StoreTransaction
    ) throws -> String {
        let conversation = found.conversation
        if let name = conversation.name { return line(name) }
        let members = try store.members(of: conversation.id, after: nil, limit: 3).map(\.user).filter { $0 != user }
        guard let other = members.first else { return "Notes to oneself" }
        return line(try store.displayName(of: other) ?? "")
    }

    /// Names are data too: on one line, and not endless.
    static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
            default: scalar != "\u{27E6}" && scalar != "\u{27E7}"
            }
        }
        return String(String.UnicodeScalarView(scalars.prefix(80)))
    }

    /// The conversation that a model has named, which it can only have been shown.
    private func conversation(in arguments: ToolArguments) throws -> ConversationID? {
        guard let handle = arguments.text("in") else { return run.scope.conversation }
        guard let id = sources.conversation(handle), run.scope.conversation.map({ $0 == id }) ?? true else {
            throw ToolRefusal("in is not the id of a conversation that you have seen.")
        }
        return id
    }

    // MARK: Messages

    /// Messages of one conversation, with the names of those in them.
    private struct Read: Sendable {
        var conversation: NamedConversation
        var messages: [Message] = []
        var names: [UserID: String] = [:]
    }

    /// Reads messages, those alone that may be shown.
    private func read(_ wanted: [(ConversationID, ReadMessages)]) async throws -> [Read] {
        let (commands, run, isForAll) = (commands, run, isForAll)
        return try await store.longRead { store in
            try wanted.compactMap { id, numbers in
                guard run.scope.conversation.map({ $0 == id }) ?? true,
                    let found = try? commands.readableConversation(
                        id, isForAll: isForAll, by: run.user, model: run.model, isHosted: run.isHosted, in: store),
                    // A former member may be asked about what was; all others of conversations that they are in.
                    run.scope.conversation != nil || found.member.state == .member
                else { return nil }
                var read = Read(
                    conversation: NamedConversation(found: found, name: try Self.name(of: found, for: run.user, store)))
                read.messages = try commands.readable(
                    numbers, in: found, isForAll: isForAll, isHosted: run.isHosted, by: run.user, in: store)
                for message in read.messages {
                    let people = [message.author] + message.ranges.compactMap(\.user)
                    for one in people where read.names[one] == nil {
                        read.names[one] = try store.displayName(of: one).map { Self.line($0) } ?? "somebody"
                    }
                }
                return read
            }
        }
    }

    /// The messages as the model is shown them.
    private mutating func write(_ messages: [(Message, Read)], to writer: inout JSONWriter) {
        var shown: [(handle: String, text: String, conversation: String?, author: String?, Message, Read)] = []
        for (message, read) in messages {
            guard let text = message.translatableText,
                let source = sources.show(message, text, name: { read.names[$0] })
            else { continue }
            shown.append(
                (
                    source.handle, source.text, sources.show(message.conversation), sources.show(message.author),
                    message,
                    read
                ))
        }
        writer.name("messages")
        writer.array(shown) { writer, one in
            let (handle, text, conversation, author, message, read) = one
            writer.object { writer in
                writer.member("id", handle)
                writer.member("in", conversation)
                writer.member("conversation", read.conversation.name)
                writer.member("from", author)
                writer.member("name", message.author == user ? "the user" : read.names[message.author])
                writer.member("at", message.sentAt.text)
                writer.member("text", text)
            }
        }
    }

    private mutating func search(_ arguments: ToolArguments) async throws -> String {
        let text = try arguments.requireText("query")
        var filters = SearchFilters()
        filters.conversation = try conversation(in: arguments)
        // What may not be shown hides nothing that may.
        filters.shownToHostedModel = run.isHosted
        if let from = arguments.text("from") {
            guard let person = sources.person(from) else {
                throw ToolRefusal("from is not the id of a person that you have seen: use people first.")
            }
            filters.author = person
        }
        filters.from = try day(arguments, "after")
        filters.to = try day(arguments, "before")
        let query = try SearchQuery(text)
        let request = try SearchRequest(query: query, filters: filters, order: .relevance, limit: SearchLimits().page)
        let found: [Message] =
            if search.hasMeaning {
                try await search.search(request, mode: .both, by: user) { response, _ in
                    response.page.results.map(\.message.message)
                }
            } else {
                try await search.search(request, by: user) { page, _ in page.results.map(\.message.message) }
            }
        let numbers = Dictionary(grouping: found, by: \.conversation).mapValues { $0.map(\.number) }
        let read = try await read(numbers.map { ($0.key, .numbers($0.value)) })
        // In the order in which they were found.
        let messages = found.compactMap { message -> (Message, Read)? in
            guard let one = read.first(where: { $0.conversation.found.conversation.id == message.conversation }),
                let seen = one.messages.first(where: { $0.number == message.number })
            else { return nil }
            return (seen, one)
        }
        var writer = JSONWriter()
        writer.object { write(Array(messages.prefix(Self.found)), to: &$0) }
        return writer.text
    }

    private func day(_ arguments: ToolArguments, _ name: String) throws -> Timestamp? {
        guard let text = arguments.text(name) else { return nil }
        guard let time = Timestamp(String(text.prefix(10)) + "T00:00:00.000Z") else {
            throw ToolRefusal("\(name) is a day such as 2026-11-27.")
        }
        return time
    }

    private func message(_ arguments: ToolArguments) throws -> AssistantSources.Shown {
        guard let shown = sources.message(try arguments.requireText("message")) else {
            throw ToolRefusal("message is not the id of a message that you have seen.")
        }
        return shown
    }

    private mutating func around(_ arguments: ToolArguments) async throws -> String {
        let citation = try message(arguments).citation
        let read = try await read([(citation.conversation, .around(citation.number, count: Self.around))])
        var writer = JSONWriter()
        writer.object { writer in write(read.flatMap { one in one.messages.map { ($0, one) } }, to: &writer) }
        return writer.text
    }

    // MARK: Summaries

    private mutating func summary(_ arguments: ToolArguments, _ kinds: Set<MessageSummary.Item.Kind>) async throws
        -> String
    {
        var scope = SummaryScope()
        scope.isUnread = arguments.flags["unread"] ?? false
        let ids: [ConversationID] =
            if let one = try conversation(in: arguments) {
                [one]
            } else {
                try await conversations().prefix(Self.summarised).map(\.found.conversation.id)
            }
        var items: [(MessageSummary.Item, ConversationID)] = []
        for id in ids {
            let summary = try await summaries.extract(of: id, scope, by: user)
            items += summary.items.filter { kinds.contains($0.kind) }.map { ($0, id) }
        }
        items = Array(items.suffix(Self.items))
        let read = try await read(
            Dictionary(grouping: items, by: \.1).map { ($0.key, .numbers($0.value.flatMap(\.0.messages))) })
        // An item stands for its messages: all of them may be shown, or it is not.
        var messages: [(Message, Read)] = []
        var kinds: [(MessageSummary.Item.Kind, [Message])] = []
        for (item, id) in items {
            guard let one = read.first(where: { $0.conversation.found.conversation.id == id }) else { continue }
            let seen = one.messages.filter { item.messages.contains($0.number) }
            guard seen.count == Set(item.messages).count else { continue }
            messages += seen.map { ($0, one) }
            kinds.append((item.kind, seen))
        }
        var writer = JSONWriter()
        writer.object { writer in
            write(messages, to: &writer)
            writer.name("items")
            writer.array(kinds) { writer, item in
                writer.object { writer in
                    writer.member("kind", item.0.rawValue)
                    writer.name("messages")
                    writer.array(item.1) { writer, message in writer.write(handle(of: message)) }
                }
            }
        }
        return writer.text
    }

    private func handle(of message: Message) -> String {
        let index = sources.messages.firstIndex {
            $0.citation.conversation == message.conversation && $0.citation.number == message.number
        }
        return index.map { "m\($0 + 1)" } ?? ""
    }

    private mutating func priority(_ arguments: ToolArguments) async throws -> String {
        let limit = min(max(1, Int(arguments.numbers["limit"] ?? 10)), Self.items)
        let ranked = try await summaries.priority(of: user, limit: 50, shownToHostedModel: run.isHosted) { ranked, _ in
            ranked
        }
        let read = try await read(
            Dictionary(grouping: ranked, by: \.message.conversation)
                .map { ($0.key, .numbers($0.value.map(\.message.number))) })
        var messages: [(Message, Read)] = []
        var reasons: [(Message, [PriorityReason])] = []
        for one in ranked where messages.count < limit {
            guard let found = read.first(where: { $0.conversation.found.conversation.id == one.message.conversation }),
                let seen = found.messages.first(where: { $0.number == one.message.number })
            else { continue }
            messages.append((seen, found))
            reasons.append((seen, one.reasons))
        }
        var writer = JSONWriter()
        writer.object { writer in
            write(messages, to: &writer)
            writer.name("reasons")
            writer.array(reasons) { writer, one in
                writer.object { writer in
                    writer.member("message", handle(of: one.0))
                    writer.name("because")
                    writer.array(one.1) { $0.write($1.rawValue) }
                }
            }
        }
        return writer.text
    }

    // MARK: Translation

    private mutating func translation(_ arguments: ToolArguments) async throws -> String {
        let shown = try message(arguments)
        let wanted = try arguments.requireText("language")
        guard let target = LanguageTag(wellFormed: wanted)?.asTarget else {
            throw ToolRefusal("language is a BCP 47 tag, such as pt.")
        }
        let citation = shown.citation
        let read = try await read([(citation.conversation, .numbers([citation.number]))])
        guard let message = read.first?.messages.first, let text = message.translatableText, let one = read.first else {
            throw ToolRefusal("This message can be seen no more.")
        }
        let commands = commands
        let (source, isHostedAllowed) = try await store.read { store in
            var levels = MessageLevels(one.conversation.found.conversation, rules: commands.intelligence, in: store)
            return (
                try commands.language(of: message, in: store)?.code,
                try levels.level(of: message).allowsTranslation(byHosted: true)
            )
        }
        guard let source else { throw ToolRefusal("Its language is not known.") }
        guard let engine = translator.engines.engine(from: source, into: target, allowsHosted: isHostedAllowed),
            translator.pause(of: engine) == nil
        else { throw ToolRefusal("Nothing translates this: translate it yourself.") }
        let results = try await translator.translate(
            [TranslatableText(text)], from: source, into: TranslationTarget(target, tone: nil), by: engine,
            paidBy: user, purpose: "assistant", timeout: Self.translationTimeout)
        guard let results else { throw ToolRefusal("What translations may cost is used up.") }
        guard case .text(let translated) = results.first else { throw ToolRefusal("It could not be translated.") }
        let masked = MaskedText(translated, ranges: RangeFinder.ranges(in: translated).ranges)
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("message", arguments.text("message"))
            writer.member("language", target.string)
            // Addresses in it are those of the message, under its own markers.
            writer.member(
                "text",
                masked.parts.reduce(into: "") { words, part in
                    if case .text(let one) = part { words += one } else { words += "…" }
                })
        }
        return writer.text
    }

    // MARK: People

    private mutating func people(_ arguments: ToolArguments) async throws -> String {
        struct Person: Sendable {
            var user: UserID
            var name: String
            var conversations: [ConversationID]
        }
        let named = try await conversations()
        let wanted = arguments.text("name").map { NormalizedText.normalized($0).lowercased() }
        let user = user
        let people = try await store.longRead { store in
            var shared: [UserID: [ConversationID]] = [:]
            var order: [UserID] = []
            // Who has left has no list of the members any more: they may be others by now.
            for one in named where one.found.member.state == .member {
                let id = one.found.conversation.id
                for member in try store.members(of: id, after: nil, limit: Self.membersOfConversation)
                where member.state == .member && member.user != user {
                    if shared[member.user] == nil { order.append(member.user) }
                    shared[member.user, default: []].append(id)
                }
            }
            var people: [Person] = []
            for one in order where people.count < Self.people {
                guard let name = try store.displayName(of: one).map({ Self.line($0) }) else { continue }
                if let wanted, !NormalizedText.normalized(name).lowercased().contains(wanted) { continue }
                people.append(Person(user: one, name: name, conversations: shared[one] ?? []))
            }
            return people
        }
        var shown: [(handle: String, name: String, conversations: [String])] = []
        for person in people {
            guard let handle = sources.show(person.user) else { continue }
            shown.append((handle, person.name, person.conversations.compactMap { sources.show($0) }))
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("people")
            writer.array(shown) { writer, person in
                writer.object { writer in
                    writer.member("id", person.handle)
                    writer.member("name", person.name)
                    writer.name("in")
                    writer.array(person.conversations) { $0.write($1) }
                }
            }
        }
        return writer.text
    }
}
