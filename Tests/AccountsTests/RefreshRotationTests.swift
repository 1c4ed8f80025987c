import Accounts
import Model
import Testing
import Wire

@Suite struct RefreshRotationTests {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)
    static let family: [UInt8] = [9, 9]

    func rotation() -> RefreshRotation {
        RefreshRotation(
            familyHash: Self.family, usedAt: Self.start, next: [[1]], expiresAt: Self.start.adding(seconds: 1000))
    }

    /// Shows a token and gives out `successor` for it.
    func redeem(
        _ rotation: inout RefreshRotation, _ counter: Int64, _ hash: UInt8, next successor: UInt8,
        after seconds: Int64 = 0, family: [UInt8] = family, restoredAt: Timestamp? = nil
    ) -> RefreshRotation.Verdict {
        rotation.redeem(
            counter: counter, familyHash: family, secretHash: [hash], successor: [successor],
            at: Self.start.adding(seconds: seconds), grace: 60, lifetime: 1000,
            restoredAt: restoredAt)
    }

    @Test func tokensFollowOneAnother() {
        var rotation = rotation()
        #expect(redeem(&rotation, 1, 1, next: 2) == .accepted(counter: 2))
        #expect(redeem(&rotation, 2, 2, next: 3, after: 900) == .accepted(counter: 3))
        #expect(redeem(&rotation, 3, 3, next: 4, after: 1800) == .accepted(counter: 4))
    }

    /// The store is older than the client's token: that is nobody's theft, until a token was taken since.
    @Test func aRestoredStoreDoesNotKnowWhatItGaveOut() {
        let restored = Self.start.adding(seconds: 100)
        var ahead = rotation()
        #expect(redeem(&ahead, 5, 77, next: 2, after: 200, restoredAt: restored) == .unknownSinceRestore)
        #expect(redeem(&ahead, 1, 77, next: 2, after: 200, restoredAt: restored) == .unknownSinceRestore)
        #expect(redeem(&ahead, 5, 77, next: 2, after: 200, family: [1, 1], restoredAt: restored) == .unknown)
        #expect(redeem(&ahead, 1, 1, next: 2, after: 200, restoredAt: restored) == .accepted(counter: 2))
        #expect(redeem(&ahead, 5, 77, next: 3, after: 201, restoredAt: restored) == .reused)
    }

    @Test func aLostAnswerIsForgiven() {
        var rotation = rotation()
        #expect(redeem(&rotation, 1, 1, next: 2) == .accepted(counter: 2))
        #expect(redeem(&rotation, 1, 1, next: 3, after: 60) == .accepted(counter: 2))
        // Whichever of the two answers arrived after all.
        var first = rotation
        #expect(redeem(&first, 2, 2, next: 4, after: 61) == .accepted(counter: 3))
        #expect(redeem(&rotation, 2, 3, next: 4, after: 61) == .accepted(counter: 3))
    }

    @Test func twoHoldersAreFoundOut() {
        var rotation = rotation()
        #expect(redeem(&rotation, 1, 1, next: 2) == .accepted(counter: 2))
        #expect(redeem(&rotation, 1, 1, next: 3) == .accepted(counter: 2))
        #expect(redeem(&rotation, 2, 2, next: 4) == .accepted(counter: 3))
        var late = rotation
        #expect(redeem(&late, 2, 3, next: 5) == .reused)
        #expect(redeem(&rotation, 1, 1, next: 5) == .reused)
    }

    @Test func theGraceEnds() {
        var rotation = rotation()
        #expect(redeem(&rotation, 1, 1, next: 2) == .accepted(counter: 2))
        #expect(redeem(&rotation, 1, 1, next: 3, after: 61) == .reused)
    }

    @Test func madeUpTokensDoNothing() {
        var rotation = rotation()
        let before = rotation
        #expect(redeem(&rotation, 1, 7, next: 2, family: [1, 2]) == .unknown)
        #expect(redeem(&rotation, 1, 1, next: 2, after: 1000) == .expired)
        #expect(rotation == before)
    }

    @Test func textAndBack() throws {
        let token = RefreshToken(signIn: .make(at: Self.start), counter: 7, family: "fam", secret: "sec")
        #expect(RefreshToken(token.text) == token)
        let id = token.signIn.text
        for bad in [
            "", "x", "\(id).7.fam", "\(id).0.fam.sec", "\(id).-1.fam.sec", "\(id).7..sec", "\(id).7.fam.sec.x",
            "\(id).99999999999999999999.f.s", "\(id).7.fam." + String(repeating: "s", count: 300),
        ] { #expect(RefreshToken(bad) == nil) }
    }

    /// However answers get lost, an honest client alone is never signed out; as soon as a thief and the owner have both
    /// refreshed from a copied state, the sign-in ends.
    @Test(arguments: UInt64(1)...200)
    func randomLosses(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var rotation = rotation()
        var secret: UInt8 = 1
        var owner: (counter: Int64, hash: UInt8) = (1, 1)
        for step in 0..<60 {
            secret &+= 1
            let verdict = redeem(&rotation, owner.counter, owner.hash, next: secret, after: Int64(step))
            #expect(verdict == .accepted(counter: owner.counter + 1), "seed \(seed)")
            let isLost = random.next() % 3 == 0 && rotation.next.count < RefreshRotation.maxSuccessors
            if !isLost { owner = (owner.counter + 1, secret) }
        }
        var thief = owner
        var ended = false
        for step in 60..<70 {
            secret &+= 1
            let isThief = random.next() % 2 == 0
            let shown = isThief ? thief : owner
            switch redeem(&rotation, shown.counter, shown.hash, next: secret, after: Int64(step)) {
            case .accepted(let counter): if isThief { thief = (counter, secret) } else { owner = (counter, secret) }
            default: ended = true
            }
            if ended { break }
            // Both have moved on: that must not be possible twice.
            #expect(thief.counter <= owner.counter + 8 && owner.counter <= thief.counter + 10)
        }
        if thief.hash != owner.hash, !ended {
            secret &+= 1
            let first = redeem(&rotation, owner.counter, owner.hash, next: secret, after: 71)
            secret &+= 1
            let second = redeem(&rotation, thief.counter, thief.hash, next: secret, after: 71)
            #expect(first == .reused || second == .reused, "seed \(seed)")
        }
    }
}
