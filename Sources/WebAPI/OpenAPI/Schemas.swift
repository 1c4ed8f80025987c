import Accounts
import Calls
import Languages
import Messaging
import Model
import Notifications
import Services

/// The schemas that several operations share.
package enum Schemas {
    package static let all: [(String, Schema)] =
        [
            ("User", user), ("Me", me), ("QuietHours", quietHours), ("SignIn", signIn), ("Session", session),
            ("Device", device), ("Call", call),
            ("Participant", participant), ("Media", media), ("Quality", quality), ("Position", position),
            ("Candidate", candidate), ("ICEServer", iceServer), ("Slot", slot),
            ("VoiceFile", voiceFile),
            ("VoiceRecord", voiceRecord), ("Transcript", transcript), ("MediaLink", mediaLink),
            ("Recording", recording), ("RecordedTrack", recordedTrack), ("RecordingMix", recordingMix),
            ("RecordingTranscript", recordingTranscript), ("Caption", caption),
            ("CaptionTranslation", captionTranslation),
            ("Positions", .map(.named("Position"))), ("UserPage", userPage), ("NewDevice", newDevice),
            ("SessionDescription", .object([.required("sdp", .text(minimum: 1, maximum: 262_144))])),
            ("TrackSource", trackSource), ("MediaChange", mediaChange), ("CallResult", callResult),
            ("CallPage", .object([.required("calls", .list(.named("Call"))), .optional("nextCursor", .text())])),
            ("CallDocument", .object([.required("call", .named("Call"))])),
            ("RecordingList", .object([.required("recordings", .list(.named("Recording")))])),
            ("RecordingMixResult", recordingMixResult), ("VoiceFileResult", voiceFileResult),
            ("DictationResult", dictationResult),
            ("TranscriptResult", transcriptResult("Transcript")),
            ("RecordingTranscriptResult", transcriptResult("RecordingTranscript")),
            ("TranscriptionFailure", transcriptionFailure), ("SlotPreferences", slotPreferences),
        ] + ServerOperations.schemas + FriendOperations.schemas + ContactOperations.schemas + ConversationSchemas.all
        + MessageOperations.schemas + TranscriptOperations.schemas + PushOperations.schemas

    static let displayName = Schema.text(minimum: 1, maximum: 80)
    static let language = Schema.text(minimum: 2, maximum: 35, pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")
    static let languages = Schema.list(language, maximum: 16)
    static let intelligence = Schema.choice(IntelligenceLevel.allCases.map(\.rawValue))
    static let intelligenceOfUser =
        "What machines may do with what this user writes: nothing (`off`), only the operator's own engines "
        + "(`local`), also translation and transcription by hosted services (`translate`), or everything "
        + "(`full`). If absent, the server's default applies."
    static let translationSettings = Schema.object([
        .required(
            "mode", .choice(TranslationMode.allCases.map(\.rawValue)),
            "Whether messages in languages that the user does not know are translated without asking."),
        .optional(
            "into", .text(minimum: 2, maximum: LanguageTag.maxLength),
            "A tag such as en or pt-BR; absent for the first language of the profile."),
        .optional(
            "tone", .choice(TranslationTone.allCases.map(\.rawValue)),
            "How translations address the user, if the engine can make that difference. If absent, the "
                + "server's default applies."),
    ])
    /// When messages are explained.
    static let hintMode = Schema.choice(TranslationMode.allCases.map(\.rawValue))
    static let email = Schema.text(minimum: 3, maximum: 254)
    static let password = Schema.text(minimum: 8, maximum: 128)
    static let positions = Schema.named("Positions")
    static let requestID = Schema.text(pattern: "^[0-9a-f]{32}$")
    static let endReasons = CallRecord.reasons
    static let participantStates = CallRecord.participantStates

    private static let photoURL = Schema.Member.optional(
        "photoURL", .text(), "A path on this server, such as `/v1/photos/…`. It needs no token.")

    private static let deleted = Schema.Member.optional(
        "deleted", .boolean, "True if the account was deleted. Then the name is `\(DeletedUser.name)`.")

    private static let user = Schema.object([
        .required("id", .identifier), .required("displayName", .text()), photoURL,
        .required("languages", .list(.text())), deleted,
    ])

    private static let me = Schema.object([
        .required("id", .identifier), .optional("email", .text()), .required("displayName", .text()),
        photoURL, .required("languages", .list(.text())),
        .required("callWaiting", .boolean, "Whether a second call rings during a call."),
        .required(
            "presence", .choice(["everybody", "nobody"]),
            "Whether friends and members of shared conversations see if this user is online, or nobody does."),
        .required(
            "reach", .choice(Reach.allCases.map(\.rawValue)),
            "Who finds this user by name: everybody, or only friends. With `exact`, others find the user only "
                + "by the whole e-mail address, the id or the contact link."),
        .required(
            "receipts", .boolean,
            "Whether others see what this user has read. If not, the user does not see what others have read either."),
        .required(
            "lastSeen", .choice(LastSeenVisibility.allCases.map(\.rawValue)),
            "Which of those who see whether this user is online also see when the user was last online. The "
                + "user sees that time only of users to whom they show their own."),
        .required(
            "messageRequests", .choice(MessageRequestPolicy.allCases.map(\.rawValue)),
            "What happens when somebody who is not a friend begins a direct conversation: it is a request "
                + "(`ask`), the user is in it at once (`accept`), or nothing of it reaches the user (`refuse`), "
                + "which the other person cannot tell. With `refuse`, their invitations to groups do not arrive "
                + "either."),
        .optional("translation", .named("TranslationSettings"), "Absent as if on request."),
        .optional(
            "hints", hintMode,
            "When messages of others in other languages are explained: without asking, on request, or never. "
                + "If absent, on request."
        ),
        .optional("intelligence", intelligence, intelligenceOfUser),
        .optional("notifications", notifications, notificationsOfUser),
        .optional("quietHours", .named("QuietHours"), quietHoursOfUser),
        .required("createdAt", .time),
    ])

    static let notifications = Schema.choice(NotificationLevel.allCases.map(\.rawValue))
    static let notificationsOfUser =
        "What pushed notifications show: the sender and the text (`full`), the sender (`name`), or only that "
        + "there is something (`none`). If absent, it is `full` by Web Push, which is encrypted for the browser, "
        + "and `name` by services that can read what they forward. These services get the text only of messages "
        + "that hosted services may read, whose level is `full`."

    static let quietHoursOfUser =
        "The hours in which nothing is pushed to the user's devices; what was left out is pushed when they "
        + "end. Absent: never."

    private static let quietHours = Schema.object([
        .required("from", timeOfDay, "A time of the clocks in the zone, from 00:00 to 23:59."),
        .required("to", timeOfDay, "Another time than `from`. If it is earlier than `from`, it is on the next day."),
        .required(
            "zone", .text(minimum: 1, maximum: QuietHours.maxZoneLength),
            "The name of a time zone in the database of IANA, such as `Europe/Berlin`."),
    ])
    private static let timeOfDay = Schema.text(pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$")

    private static let signIn = Schema.object([
        .required("user", .named("Me")), .required("session", .named("Session")), .required("accessToken", .text()),
        .required("refreshToken", .text(), "Valid for one refresh; the response contains the next."),
        .required("expiresIn", .integer(), "Seconds until the access token expires."),
    ])

    private static let session = Schema.object([
        .required("id", .identifier), .required("device", .named("Device")), .required("createdAt", .time),
        .required("lastUsedAt", .time), .required("current", .boolean),
        .optional(
            "client", .object([.required("name", .text()), .required("version", .text())]),
            "The library or program that last connected with it, as it named itself in `hello.client`."),
    ])

    private static let device = Schema.object([
        .required("id", .identifier), .required("name", .text()), .required("platform", .text()),
        .optional("createdAt", .time), .optional("lastSeenAt", .time), .optional("current", .boolean),
        .optional(
            "push", .list(.choice(PushKind.allCases.map(\.rawValue))),
            "In sessions: the ways by which the device gets pushes of messages and calls while it sleeps. "
                + "Absent if there are none."),
    ])

    private static let call = Schema.object([
        .required("id", .identifier),
        .optional(
            "conversationID", .identifier,
            "The conversation that it belongs to, if a message tells of the call."),
        .optional(
            "open", .boolean,
            "True for a call of a group conversation, which its members may join without an invitation."),
        .required("kind", .choice(["audio", "video"])), .required("mode", .choice(["direct", "gateway"])),
        .optional("gatewayEpoch", .integer(), "In gateway mode: legs must be joined again when it changes."),
        .required("status", .choice(["ringing", "active", "ended"])), .optional("endReason", .choice(endReasons)),
        .optional("endedBy", .identifier), .required("version", .integer(), "Grows with every change of the call."),
        .required("caller", .identifier), .required("createdAt", .time), .optional("answeredAt", .time),
        .optional("endedAt", .time),
        .optional(
            "recording",
            .object([
                .required("id", .identifier), .required("by", .identifier), .required("since", .time),
                .optional("until", .time, "When it ends by itself."),
            ]),
            "Present while the call is recorded, which every participant must be shown."),
        .optional(
            "recordingEnded", .choice(recordingEnds),
            "Why the recording ended, if nobody ended it: it reached the maximum length, it failed, or the server "
                + "stopped."
        ),
        .optional("recorded", .boolean, "Whether recordings of it exist, or existed."),
        .optional(
            "captions",
            .object([
                .required("by", .identifier), .required("since", .time),
                .optional("failure", .text(), "Why there are currently none."),
            ]),
            "Present while the call has captions, which every participant must be shown. `caption` in the call's "
                + "stream reports it."
        ),
        .required("participants", .list(.named("Participant"))),
    ])

    private static let recording = Schema.object([
        .required("id", .identifier), .required("call", .identifier),
        .required("by", .identifier, "The user who started it."),
        .required(
            "status", .choice(["ongoing", "complete", "failed", "interrupted"]),
            "A recording that failed, or was interrupted when the server stopped, can be played as far as it goes."),
        .required("startedAt", .time), .optional("endedAt", .time), .optional("failure", .text(), "Why it failed."),
        .optional(
            "reason", .choice(recordingEnds), "Why it ended, if neither a user nor the end of the call ended it."),
        .required("tracks", .list(.named("RecordedTrack"))),
        .optional("mix", .named("RecordingMix"), "All tracks in one file; absent until it is requested."),
    ])

    private static let recordingEnds = Recording.EndReason.allCases.map(\.rawValue)

    private static let recordingMix = Schema.object([
        .required("status", .choice(["pending", "complete", "failed"])),
        .optional("failure", .text(), "Why it failed. Request it again to retry."),
        .optional("durationMs", .integer()), .optional("byteCount", .integer()),
        .optional("audio", .named("MediaLink"), "Ogg with Opus, once it is complete."),
    ])

    /// Published only in the streams of calls.
    private static let caption = Schema.object([
        .required("user", .identifier, "Who said it."),
        .required("source", .named("TrackSource")),
        .required("startedAt", .time, "When it was said."), .required("durationMs", .integer()),
        .required("text", .text()), .optional("language", .text(), "A BCP 47 language tag."),
    ])

    private static let captionTranslation = Schema.object([
        .required("user", .identifier, "Who said it: with `source` and `startedAt` as in the caption."),
        .required("source", .named("TrackSource")), .required("startedAt", .time),
        .required("language", .text(), "The language into which it is translated, as a BCP 47 tag."),
        .optional("from", .text(), "The language that was spoken; absent if it is not known."),
        .required(
            "status", .choice(["done", "failed", "unavailable"]),
            "`unavailable`: it cannot be made at present; `failed`: it may succeed the next time."),
        .optional("reason", .choice(MessageTranslation.Reason.allCases.map(\.rawValue)), "Why there is none."),
        .optional("text", .text()), .optional("engine", .text(), "What made it."),
        .optional("kind", .choice(TranslationKind.allCases.map(\.rawValue)), "How it is made."),
    ])

    private static let recordedTrack = Schema.object([
        .required("user", .identifier, "The speaker."), .required("endpoint", .identifier),
        .required("source", .named("TrackSource")),
        .required("offsetMs", .integer(), "From the start of the recording to the start of the file."),
        .optional("durationMs", .integer(), "Absent while it is being recorded."), .optional("byteCount", .integer()),
        .optional(
            "audio", .named("MediaLink"),
            "Ogg with Opus, as it was sent; absent while it is being recorded, and if there is no audio."),
    ])

    private static let recordingTranscript = Schema.object([
        .required(
            "status", .choice(["pending", "complete", "failed"]),
            "Pending while a track is being transcribed; failed if any track has failed."),
        .optional("language", .text(), "The language of most of the words, as a BCP 47 tag."),
        .required(
            "segments",
            .list(
                .object([
                    .required("start", .integer(), "Milliseconds from the start of the recording."),
                    .required("end", .integer()), .required("text", .text()),
                    .required("user", .identifier, "The speaker."),
                    .required("source", .named("TrackSource")),
                    .required("track", .integer(), "The index in the recording's `tracks`, from 0."),
                ])), "Ordered by start, as far as they are known."),
        .required(
            "tracks",
            .list(
                .object([
                    .required("track", .integer()), .required("user", .identifier),
                    .required("source", .named("TrackSource")),
                    .required("status", .choice(["pending", "complete", "failed"])),
                    .optional(
                        "language", .text(),
                        "The language that is spoken there: the one that the provider reports, or the one of "
                            + "its words, if that is certain."
                    ),
                    .optional("failure", .named("TranscriptionFailure")),
                ])), "The tracks with audio."),
        .optional("failure", .named("TranscriptionFailure"), "Why the first failed track failed."),
    ])

    private static let participant = Schema.object([
        .required("user", .identifier), .required("displayName", .text()), photoURL, deleted,
        .optional("endpoint", .identifier, "The endpoint that is in the call for this user."),
        .required(
            "state",
            .choice(participantStates)),
        .optional("ringDeadline", .time),
        .optional("remainingMs", .integer(), "The remaining ring time when this was written."),
        .optional(
            "pushedAt", .time,
            "When the ring was queued for devices that may sleep. Absent if the user has none: then only "
                + "connected devices ring."
        ),
        .optional("joinedAt", .time), .optional("leftAt", .time), .optional("detachedAt", .time),
        .optional("reason", .choice(endReasons + ["answered_elsewhere", "declined_elsewhere", "taken_over"])),
        .required("connected", .boolean), .required("media", .named("Media")), .optional("quality", .named("Quality")),
    ])

    private static let media = Schema.object([
        .required("audio", .boolean), .required("video", .boolean), .required("screen", .boolean),
        .required("held", .boolean),
    ])

    private static let quality = Schema.object([
        .required("loss", .number(0...1)), .required("jitter", .number(), "Milliseconds."),
        .required("roundTrip", .number(), "Milliseconds."), .required("relayed", .boolean),
        .required("mos", .number(1...5), "Estimated mean opinion score (ITU-T G.107)."),
        .optional("seconds", .number()),
    ])

    private static let position = Schema.list(.either([.text(), .integer()]), minimum: 2, maximum: 2)

    private static let candidate = Schema.object([
        .required("candidate", .text(maximum: 4096)), .optional("sdpMid", .text(maximum: 256)),
        .optional("sdpMLineIndex", .integer(0...65535)), .optional("usernameFragment", .text(maximum: 256)),
    ])

    private static let iceServer = Schema.object([
        .required("urls", .list(.text(), minimum: 1)), .optional("username", .text()), .optional("credential", .text()),
    ])

    private static let slot = Schema.object([
        .required("mid", .text(), "The section of the leg's descriptions."),
        .required("kind", .choice(["audio", "video"])),
        .optional(
            "track",
            .object([
                .required("user", .identifier), .required("endpoint", .identifier),
                .required("mid", .text(), "The section of that endpoint's leg."),
                .required("source", .named("TrackSource")),
            ]), "The track that it shows; absent if it shows none."),
    ])

    private static let sound: [Schema.Member] = [
        .required("durationMs", .integer()), .required("byteCount", .integer()), .required("contentType", .text()),
        .required("waveform", .list(.integer(0...100), maximum: 100), "The peak of each of equal parts."),
        .required("level", .integer(-127...0), "The mean level, in decibels relative to full scale."),
    ]

    private static let voiceFile = Schema.object(
        [
            .required("id", .identifier, "The `file` of the message as which it is sent."),
            .required("createdAt", .time),
            .required("expiresAt", .time, "Unless it is sent by then, it is removed."),
        ] + sound)

    private static let voiceRecord = Schema.object(
        [
            .optional("file", .identifier, "Of the audio; absent of an imported message, whose audio is not here.")
        ] + sound + [
            .optional(
                "transcript", .named("Transcript"),
                "Without `segments`. Absent if no transcript was requested, and for users who left the "
                    + "conversation before it was made."
            )
        ])

    private static let dictationResult = Schema.object([
        .required("text", .text(), "What was said."),
        .optional("language", .text(), "A BCP 47 language tag, if the provider reports one."),
    ])

    private static let transcript = Schema.object([
        .required("status", .choice(["pending", "complete", "failed"])),
        .optional("language", .text(), "A BCP 47 language tag, if the provider reports one."),
        .optional("text", .text()),
        .optional(
            "segments",
            .list(
                .object([
                    .required("start", .integer(), "Milliseconds from the start."),
                    .required("end", .integer()), .required("text", .text()),
                ]))),
        .optional("failure", .named("TranscriptionFailure"), "Why it failed."),
    ])

    private static let transcriptionFailure = Schema.object([
        .required("type", .text()), .required("detail", .text()),
        .required("mayRetry", .boolean, "Whether a retry may succeed."),
    ])

    private static let mediaLink = Schema.object([
        .required("url", .text(), "Relative to the server's address. It needs no token, and is for this user only."),
        .required("expiresAt", .time, "Fetch the document again for a new URL."),
    ])

    private static let trackSource = Schema.choice(LegTrack.Source.allCases.map(\.rawValue))

    private static let slotPreferences = Schema.map(.choice(SlotQuality.allCases.map(\.rawValue)))

    private static let mediaChange = Schema.object(
        ["audio", "video", "screen", "held"].map { .optional($0, .boolean) })

    /// Of a sign-in.
    private static let newDevice = Schema.object([
        .optional("id", .identifier, "The device id from an earlier sign-in on this installation."),
        .required("name", .text(minimum: 1, maximum: 80)), .required("platform", .text(minimum: 1, maximum: 40)),
    ])

    private static let userPage = Schema.object([
        .required("users", .list(.named("User"))), .optional("nextCursor", .text()),
    ])
}

// The results of operations that change something.
extension Schemas {
    private static let isDuplicate = Schema.Member.optional(
        "duplicate", .boolean, "Nothing changed, or the request was already executed.")

    private static let callResult = Schema.object([
        .required("call", .named("Call")), .optional("positions", positions), isDuplicate,
        .optional("joined", .boolean, "The other side was already calling: that call was accepted instead."),
    ])

    private static let recordingMixResult = Schema.object([
        .required("recording", .named("Recording")), .optional("positions", positions),
    ])

    private static let voiceFileResult = Schema.object([.required("file", .named("VoiceFile")), isDuplicate])

    private static func transcriptResult(_ transcript: String) -> Schema {
        .object([.required("transcript", .named(transcript)), .optional("positions", positions)])
    }
}
