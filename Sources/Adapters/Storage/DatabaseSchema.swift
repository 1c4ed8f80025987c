/// All migrations of the product, in the order of their numbers. Each part of the store contributes its own.
package enum DatabaseSchema {
    package static let migrations: [Migration] =
        changeLog + accounts + calls + voice + recordings + transcripts
        + recordedCalls + mixes + captions + recordingAudience + logBounds + signInBounds + mediaUsage + restores
        + endpointUse + photos + serverKeys + signInClients + webhooks + deletions + friends + messaging
        + messagingStreams + messageParts + search + imports + groupLinks + messageTimes + retention
        + followedCalls + voiceMessages + withheldTimers + notices + presenceWords + messageLanguages + translations
        + vectors + summaries + assistant + phrases + glossaries + forwarded
        + endedGroups + receivedMarks + streamEpochs + messageTerms + listedConversations + withheldVersions
        + withheldEnds + membersInside + rangesOfEdits + normalizedNames + push
}
