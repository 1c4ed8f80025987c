package import Messaging
package import Model
internal import Synchronization
internal import Webhooks

/// A send that waits for the writer.
package struct WaitingSend: Sendable {
    package let conversation: ConversationID
    package let user: UserID
    package let commands: ConversationCommands
    /// What is sent; it may look up what the request names.
    package let message: @Sendable (StoreTransaction, ConversationCommands) throws -> OutgoingMessage

    package init(
        to conversation: ConversationID, by user: UserID, commands: ConversationCommands,
        message: @escaping @Sendable (StoreTransaction, ConversationCommands) throws -> OutgoingMessage
    ) {
        self.conversation = conversation
        self.user = user
        self.commands = commands
        self.message = message
    }
}

/// The result of a send.
package struct SentMessage: Hashable, Sendable {
    package let message: SeenMessage
    package let isDuplicate: Bool
}

// Sends that wait next to each other are stored together. Each has the outcome that it would have alone, and what is stored
// is the same: a send is checked before anything of it is written, and one that would write more than a message and its
// conversation runs by itself, in its place.
extension Store {
    /// Bounds of what is stored together, and so of a frame to those who listen.
    private static let sendsTogether = 64
    private static let bytesTogether = 256 << 10

    /// Sends a message: see `ConversationCommands.send`.
    package func send(_ send: WaitingSend) async throws -> SentMessage {
        let batch = waitingSends.withLock { known in
            if let known { return known }
            let batch = SQLBatch<WaitingSend, SentMessage> { [weak self] sends, sql in
                guard let self else { throw SQLError(.closed, "The store is closed.") }
                return try runSends(sends, sql)
            }
            known = batch
            return batch
        }
        return try await database.submit(send, to: batch)
    }

    /// Runs sends in their order.
    func runSends(
        _ sends: [WaitingSend], _ sql: any SQLTransaction
    ) throws -> SQLBatch<WaitingSend, SentMessage>.Outcome {
        var outcome = SQLBatch<WaitingSend, SentMessage>.Outcome()
        var rest = sends[...]
        while let first = rest.first {
            let together = try attempt(sql) { try storeTogether(rest, sql) }
            if case .success(let (results, written)) = together, !results.isEmpty {
                outcome.results += results
                outcome.committed.append { [self] in publish(written) }
                rest = rest.dropFirst(results.count)
                continue
            }
            // It is not plain; or something in it fails while it is written, and those after it are tried again.
            switch try attempt(sql, { try storeAlone(first, sql) }) {
            case .success(let written):
                outcome.results.append(.success(written.value))
                outcome.committed.append { [self] in publish(written) }
            case .failure(let error): outcome.results.append(.failure(error))
            }
            rest = rest.dropFirst()
        }
        return outcome
    }

    /// Stores as many as are plain, from the first on. Returns their results.
    private func storeTogether(
        _ sends: ArraySlice<WaitingSend>, _ sql: any SQLTransaction
    ) throws -> (results: [Result<SentMessage, any Error>], written: Written<Void>) {
        let transaction = begin(sql)
        let shared = SharedSends()
        transaction.sends = shared
        var results: [Result<SentMessage, any Error>] = []
        let written = try run(
            { transaction in
                // Events are written in the order of the sends, which these would not be.
                guard !transaction.subscriptions.includes(.messageCreated) else { return }
                var bytes = 0
                for send in sends.prefix(Self.sendsTogether) {
                    do {
                        let outgoing = try send.message(transaction, send.commands)
                        let checked = try send.commands.check(
                            outgoing, to: send.conversation, by: send.user, in: transaction)
                        switch checked {
                        case .duplicate(let message):
                            results.append(.success(SentMessage(message: message, isDuplicate: true)))
                        case .new(let new):
                            bytes += new.byteCount
                            guard new.isPlain, bytes <= Self.bytesTogether || results.isEmpty else { return }
                            let message = try Self.store(new, send, in: transaction)
                            shared.stored(message)
                            results.append(.success(SentMessage(message: message, isDuplicate: false)))
                        }
                    } catch let problem as Problem {
                        results.append(.failure(problem))
                    }
                }
            }, in: transaction)
        return (results, written)
    }

    /// A problem while a message is written is no answer: what is written of it has to be undone.
    private static func store(
        _ new: NewMessage, _ send: WaitingSend, in transaction: StoreTransaction
    ) throws -> SeenMessage {
        do {
            return try send.commands.store(new, in: transaction)
        } catch let problem as Problem {
            throw SQLError(.failed, "A message that was checked cannot be stored: \(problem.detail)")
        }
    }

    private func storeAlone(_ send: WaitingSend, _ sql: any SQLTransaction) throws -> Written<SentMessage> {
        try run(
            { transaction in
                let outgoing = try send.message(transaction, send.commands)
                let sent = try send.commands.send(outgoing, to: send.conversation, by: send.user, in: transaction)
                return SentMessage(message: sent.message, isDuplicate: sent.isDuplicate)
            }, in: begin(sql))
    }

    /// Runs something that is undone if it fails. Throws what ended the whole transaction.
    private func attempt<Value>(
        _ sql: any SQLTransaction, _ body: () throws -> Value
    ) throws -> Result<Value, any Error> {
        try sql.execute("SAVEPOINT send")
        let result: Result<Value, any Error>
        do {
            result = .success(try body())
        } catch {
            result = .failure(error)
            do { try sql.execute("ROLLBACK TO send") } catch _ { throw error }
        }
        try sql.execute("RELEASE send")
        return result
    }
}
