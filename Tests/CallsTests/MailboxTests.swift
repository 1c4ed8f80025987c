import Calls
import Model
import Storage
import Testing

/// The bounds of mailboxes in the database.
@Suite struct MailboxTests {
    struct Mailbox {
        let transaction: StoreTransaction
        let call: CallID
        let owner: EndpointID
        var stream: StreamName { .signals(call, owner) }

        init(_ sql: any SQLTransaction) {
            transaction = StoreTransaction(sql, now: CallsHarness.start)
            call = .make(at: CallsHarness.start)
            owner = .make(at: CallsHarness.start)
        }

        func send(_ kind: Signal.Kind, from sender: EndpointID, generation: Int64 = 1, bytes: Int) throws {
            let data = "\"" + String(repeating: "x", count: bytes) + "\""
            try transaction.append([
                .signals(
                    call, owner, kind.changeType, data: data,
                    mail: StreamEntry.Mail(sender: sender, generation: generation))
            ])
        }

        /// Bytes of payloads by sender, and of standing offers.
        func held(by sender: EndpointID) throws -> Int {
            try transaction.sql.query(
                "SELECT data FROM changes WHERE stream = ?1 AND sender = ?2", [.stream(stream), .id(sender)]
            ).reduce(0) { try $0 + $1.text(0).utf8.count }
        }

        func types(of sender: EndpointID) throws -> [String] {
            try transaction.sql.query(
                "SELECT type FROM changes WHERE stream = ?1 AND sender = ?2 ORDER BY seq",
                [.stream(stream), .id(sender)]
            ).map { try $0.text(0) }
        }

        func rows() throws -> Int {
            try transaction.sql.first("SELECT COUNT(*) FROM changes WHERE stream = ?1", [.stream(stream)])?.int(0) ?? 0
        }
    }

    @Test func theOldestOfWhoeverHasTheMostGo() async throws {
        try await Backing.database { sql in
            let mailbox = Mailbox(sql)
            let (loud, quiet) = (EndpointID.make(at: CallsHarness.start), EndpointID.make(at: CallsHarness.start))
            try mailbox.send(.offer, from: loud, bytes: 300_000)
            try mailbox.send(.answer, from: quiet, bytes: 10_000)
            for _ in 0..<40 { try mailbox.send(.candidates, from: loud, bytes: 100_000) }
            try mailbox.send(.candidates, from: quiet, bytes: 1000)
            #expect(try mailbox.types(of: quiet) == ["answer", "candidates"])
            #expect(try mailbox.types(of: loud).first == "offer")
            #expect(try (1_200_000...1_400_000).contains(mailbox.held(by: loud)))
            let bytes = try mailbox.transaction.sql.first(
                "SELECT bytes FROM streams WHERE name = ?1", [.stream(mailbox.stream)])?.integer(0)
            #expect((0...(1 << 20)).contains(bytes ?? -1))
            // Everything has its number.
            let start = Position(epoch: try mailbox.transaction.position(of: mailbox.stream).epoch, sequence: 0)
            guard
                case .changes(let changes, _, true) = try mailbox.transaction.changes(
                    of: mailbox.stream, after: start, byteLimit: 2 << 20)
            else {
                Issue.record("The mailbox has a gap.")
                return
            }
            #expect(changes.count == 43)
            #expect(changes.count { $0.data == MailboxLimits.superseded } > 25)
        }
    }

    @Test func numbersWithoutPayloadsGoAtLast() async throws {
        try await Backing.database { sql in
            let mailbox = Mailbox(sql)
            let sender = EndpointID.make(at: CallsHarness.start)
            try mailbox.send(.answer, from: sender, generation: 5000, bytes: 10)
            for generation in 1...3000 {
                try mailbox.transaction.supersede([.offer], from: sender, in: mailbox.stream, before: Int64(generation))
                try mailbox.send(.offer, from: sender, generation: Int64(generation), bytes: 100)
            }
            #expect(try mailbox.rows() <= 1100)
            let mail = try mailbox.transaction.mailboxJSON(of: mailbox.owner, in: mailbox.call)
            #expect(
                mail.hasPrefix(#"{"signals":[{"seq":1,"type":"answer","data":"xxxxxxxxxx"},{"seq":3001,"type":"offer""#)
            )
            #expect(!mail.contains("superseded"))
            let epoch = try mailbox.transaction.position(of: mailbox.stream).epoch
            let old = Position(epoch: epoch, sequence: 100), new = Position(epoch: epoch, sequence: 2900)
            #expect(try mailbox.transaction.changes(of: mailbox.stream, after: old) == .reset(.gap))
            guard case .changes(let changes, _, true) = try mailbox.transaction.changes(of: mailbox.stream, after: new)
            else {
                Issue.record("What is new cannot be resumed.")
                return
            }
            #expect(changes.count == 101)
        }
    }

    @Test func aLargeMailboxIsRemovedInBatches() async throws {
        try await Backing.database { sql in
            let mailbox = Mailbox(sql)
            for _ in 0..<1000 { try mailbox.send(.candidates, from: mailbox.owner, bytes: 10) }
            try mailbox.transaction.removeSignals(in: mailbox.call)
            #expect(try mailbox.rows() == 800)
            var batches = 0
            while try mailbox.transaction.removeEndedSignals(limit: 300) { batches += 1 }
            #expect(batches == 3)
            #expect(try mailbox.rows() == 0)
            #expect(try mailbox.transaction.position(of: mailbox.stream).sequence == 0)
        }
    }
}
