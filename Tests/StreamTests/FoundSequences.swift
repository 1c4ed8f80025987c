/// Sequences after which something was not what is sent anew, as they were found by chance and shortened.
enum FoundSequence: CaseIterable {
    /// The membership of who has left told of the invitation.
    case invitedByWhomTheyHaveBlocked
    /// The last message of who has left and is invited again was erased, and their inbox did not move.
    case invitedAgain
    /// Who had turned receipts off on another device kept the marks of others that they held.
    case receiptsTurnedOffAway
    /// An answer to who has left rests on a text of then, and they have deleted the conversation for themselves.
    case askedAndDeletedForOneself
    /// Who was erased during a call held it as it was then.
    case leftDuringACall
    /// Who had cleared what was sent while they were away held a conversation without it.
    case clearedAway
    /// A model was shown an earlier message in words that it was given after some had left, who would read its hints when
    /// they are back.
    case explainedByALaterText
    /// A worker forgot messages that might be embedded only after it had looked at them.
    case allowedWhileEmbedded

    var commands: [StreamCommand] {
        switch self {
        case .explainedByALaterText:
            [
                StreamCommand(.befriend, by: 2, of: 0, salt: 2),
                StreamCommand(.acceptFriend, by: 0, of: 2),
                StreamCommand(.befriend, by: 3, of: 0, salt: 3),
                StreamCommand(.acceptFriend, by: 0, of: 3),
                StreamCommand(.create, by: 0, value: 13, salt: 99),
                StreamCommand(.add, by: 0, of: 1),
                StreamCommand(.accept, by: 1),
                StreamCommand(.send, by: 0, salt: 82),
                StreamCommand(.send, by: 1, salt: 83),
                StreamCommand(.send, by: 2, salt: 84),
                StreamCommand(.explain, by: 1, number: 2, value: 1),
                StreamCommand(.leave, by: 2, number: 5, value: 11, salt: 103),
                StreamCommand(.forward, by: 3, of: 2, number: 2, value: 10, salt: 111),
                StreamCommand(.leave, by: 1, number: 6, value: 3, salt: 113),
                StreamCommand(.edit, by: 0, of: 0, number: 6, value: 5, salt: 116),
                StreamCommand(.claimWork, by: 3, of: 2, value: 15, salt: 148),
            ]
        case .allowedWhileEmbedded:
            [
                StreamCommand(.create, by: 0, salt: 99),
                StreamCommand(.level, by: 0, value: 4, salt: 3),
                StreamCommand(.level, by: 0, value: 1, salt: 2),
                StreamCommand(.send, by: 0, salt: 100),
                StreamCommand(.embed, by: 0, value: 8),
                StreamCommand(.level, by: 0, value: 4, salt: 2),
                StreamCommand(.completeEmbedding),
            ]
        case .clearedAway:
            [
                StreamCommand(.create, by: 3, of: 2, in: .direct(2, 3), value: 9, salt: 111),
                StreamCommand(.resume, by: 2, of: 3, in: .direct(2, 3), number: 7, value: 4, salt: 143),
                StreamCommand(.send, by: 3, of: 3, in: .direct(2, 3), number: 2, value: 15, salt: 145),
                StreamCommand(.deleteForOneself, by: 2, of: 2, in: .direct(2, 3), value: 9, salt: 160),
                StreamCommand(.resume, by: 2, of: 3, in: .direct(2, 3), number: 4, salt: 162),
            ]
        case .leftDuringACall:
            [
                StreamCommand(.create, by: 0, of: 1, value: 3, salt: 99),
                StreamCommand(.accept, by: 1, of: 1),
                StreamCommand(.add, by: 0, of: 2),
                StreamCommand(.accept, by: 2, of: 1),
                StreamCommand(.add, by: 0, of: 3),
                StreamCommand(.accept, by: 3, of: 1),
                StreamCommand(.call, by: 1, of: 3, number: 6, value: 6, salt: 160),
                StreamCommand(.eraseUser, by: 0, of: 2, in: .notes(0), number: 5, value: 6, salt: 172),
                StreamCommand(.acceptCall, by: 3, of: 1, number: 6, value: 2, salt: 200),
            ]
        case .invitedByWhomTheyHaveBlocked:
            [
                StreamCommand(.befriend, by: 3, of: 0, salt: 3),
                StreamCommand(.acceptFriend, by: 0, of: 3),
                StreamCommand(.create, by: 0, of: 1, value: 10, salt: 99),
                StreamCommand(.block, by: 0, of: 3, in: .notes(0), number: 3, value: 9, salt: 121),
                StreamCommand(.fill, by: 0, of: 2, number: 5, value: 10, salt: 155),
                StreamCommand(.leave, by: 0, of: 2, number: 8, value: 11, salt: 161),
                StreamCommand(.add, by: 3, of: 0, number: 5, value: 8, salt: 197),
            ]
        case .invitedAgain:
            [
                StreamCommand(.create, by: 0, of: 1, value: 5, salt: 99),
                StreamCommand(.accept, by: 2, of: 1),
                StreamCommand(.remove, by: 2, of: 2, number: 3, value: 7, salt: 165),
                StreamCommand(.pass, by: 2, of: 1, value: 4, salt: 178),
                StreamCommand(.add, by: 0, of: 2, number: 3, value: 9, salt: 189),
                StreamCommand(.eraseOld, by: 0, of: 1, number: 3, value: 13, salt: 207),
            ]
        case .receiptsTurnedOffAway:
            [
                StreamCommand(.befriend, by: 3, of: 0, salt: 3),
                StreamCommand(.acceptFriend, by: 0, of: 3),
                StreamCommand(.create, by: 0, of: 1, value: 10, salt: 99),
                StreamCommand(.add, by: 0, of: 2),
                StreamCommand(.accept, by: 2, of: 1),
                StreamCommand(.reply, by: 3, of: 1, number: 5, value: 3, salt: 112),
                StreamCommand(.goAway, by: 2, of: 0, number: 3, value: 11, salt: 146),
                StreamCommand(.receipts, by: 2, of: 0, number: 5, value: 1, salt: 172),
                StreamCommand(.resume, by: 2, of: 1, in: .direct(1, 2), number: 5, salt: 196),
            ]
        case .askedAndDeletedForOneself:
            [
                StreamCommand(.create, by: 0, of: 1, value: 3, salt: 99),
                StreamCommand(.add, by: 0, of: 2),
                StreamCommand(.accept, by: 2, of: 1),
                StreamCommand(.add, by: 0, of: 3),
                StreamCommand(.accept, by: 3, of: 1),
                StreamCommand(.fill, by: 0, of: 1, salt: 90),
                StreamCommand(.remove, by: 0, of: 3, number: 6, value: 13, salt: 127),
                StreamCommand(.edit, by: 1, of: 1, number: 3, value: 1, salt: 154),
                StreamCommand(.ask, by: 3, of: 2, number: 3, value: 7, salt: 173),
                StreamCommand(.deleteForOneself, by: 3, of: 0, number: 1, value: 10, salt: 192),
            ]
        }
    }
}
