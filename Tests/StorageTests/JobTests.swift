import Languages
import Messaging
import Model
import TestSupport
import Testing

@testable import Storage

@Suite("Jobs in the database") struct JobTests {
    private func job(_ number: Int64, _ store: StoreTransaction) throws -> TranslationJob {
        let (conversation, user) = (ConversationID.make(at: store.now), UserID.make(at: store.now))
        let language = try #require(LanguageTag(wellFormed: "uk"))
        return TranslationJob(
            conversation: conversation, number: number, target: TranslationTarget(language), of: 1, author: user,
            source: language, payer: user)
    }

    @Test("what a killed process has claimed can be claimed at once, and what it still returns is not stored")
    func releasedClaims() async throws {
        let scratch = try await ScratchStore()
        let (old, new) = try await scratch.store.write { store in
            try store.demand(try job(1, store))
            let until = store.now.adding(seconds: 60)
            let old = try #require(try store.claimJobs(limit: 1, until: until).first)
            #expect(try store.claimJobs(limit: 1, until: until).isEmpty)
            try store.releaseClaims()
            return (old, try #require(try store.claimJobs(limit: 1, until: until).first))
        }.value
        #expect(old.id == new.id && old.fence != new.fence)
        let finished = try await scratch.store.write { [try $0.finish(old), try $0.finish(new)] }.value
        #expect(finished == [false, true])
    }

    /// SQLite gives the id of the last row again when that is gone.
    @Test("what was claimed of a job that is gone ends no later one, which may have its id")
    func reusedIDs() async throws {
        let scratch = try await ScratchStore()
        let (gone, kept) = try await scratch.store.write { store in
            func claim(_ number: Int64) throws -> ClaimedJob {
                try store.demand(try job(number, store))
                return try #require(try store.claimJobs(limit: 1, until: store.now.adding(seconds: 60)).first)
            }
            let gone = try claim(1)
            try store.removeTranslations(of: 1, in: gone.job.conversation)
            return (gone, try claim(2))
        }.value
        #expect(gone.id == kept.id && gone.fence == kept.fence)
        _ = try await scratch.store.write { store in
            #expect(try !store.finish(gone))
            #expect(try !store.postpone(gone, until: store.now))
            #expect(try store.postpone(kept, until: store.now))
            let again = try #require(try store.claimJobs(limit: 1, until: store.now.adding(seconds: 60)).first)
            #expect(try !store.finish(kept) && store.finish(again))
        }
    }
}
