extension ServerFrame {
    /// Parses a text frame.
    init(_ text: [UInt8]) throws(SwitchboardError) {
        self = try JSON.decode(Envelope.self, from: text).frame(text)
    }

    /// A frame's JSON; its type follows from the members that are present.
    private struct Envelope: Decodable {
        private enum Key: String, CodingKey {
            case id, result, error, stream, snapshot, epoch, seq, changes, rows, after, upTo, gap, event, reset,
                heartbeat, bye
        }

        private struct Reset: Decodable { var reason: String? }
        private struct Bye: Decodable { var code: Int; var reason: String?; var retryAfter: Int64? }
        private struct Result: Decodable {
            private enum Key: String, CodingKey { case session, user, heartbeat, expiresIn }
            var greeting: Greeting?
            var expiresIn: Double?

            init(from decoder: any Decoder) throws {
                guard let container = try? decoder.container(keyedBy: Key.self) else { return }
                if container.contains(.session), container.contains(.heartbeat), container.contains(.user) {
                    greeting = try Greeting(from: decoder)
                }
                expiresIn = try? container.decodeIfPresent(Double.self, forKey: .expiresIn)
            }
        }

        /// Creates the frame from its text.
        let frame: ([UInt8]) -> ServerFrame

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            if let stream = try container.decodeIfPresent(String.self, forKey: .stream) {
                let frame = try Self.streamFrame(stream, container)
                self.frame = { _ in frame }
            } else if let id = try container.decodeIfPresent(Int.self, forKey: .id) {
                if let problem = try container.decodeIfPresent(Problem.self, forKey: .error) {
                    frame = { _ in .failure(id: id, problem) }
                } else {
                    let result = try container.decodeIfPresent(Result.self, forKey: .result)
                    frame = { text in
                        .result(
                            id: id, ResultFrame(greeting: result?.greeting, expiresIn: result?.expiresIn, frame: text))
                    }
                }
            } else if let bye = try container.decodeIfPresent(Bye.self, forKey: .bye) {
                frame = { _ in .bye(code: bye.code, reason: bye.reason ?? "", retryAfter: bye.retryAfter) }
            } else {
                let isHeartbeat = container.contains(.heartbeat)
                frame = { _ in isHeartbeat ? .heartbeat : .unknown }
            }
        }

        private static func streamFrame(
            _ stream: String, _ container: KeyedDecodingContainer<Key>
        ) throws -> ServerFrame {
            if container.contains(.snapshot) {
                let position = StreamPosition(
                    epoch: try container.decodeIfPresent(String.self, forKey: .epoch) ?? "",
                    sequence: try container.decodeIfPresent(Int64.self, forKey: .seq) ?? 0)
                return .snapshot(stream: stream, try document(stream, container), position)
            }
            if container.contains(.changes) {
                return .changes(stream: stream, try container.decode([StreamChange].self, forKey: .changes))
            }
            if container.contains(.rows) {
                return try rows(stream, container).map { .rows(stream: stream, $0) } ?? .unknown
            }
            if let reset = try container.decodeIfPresent(Reset.self, forKey: .reset) {
                return .reset(stream: stream, reason: reset.reason ?? "")
            }
            if stream.hasPrefix("presence:"), container.contains(.event) {
                return .presence(stream: stream, try container.decode(Presence.self, forKey: .event))
            }
            if StreamName.isOfCaptionTranslations(stream), container.contains(.event) {
                return .captionTranslation(
                    stream: stream, try container.decode(CaptionTranslation.self, forKey: .event))
            }
            if stream.hasPrefix("captions:"), container.contains(.event) {
                return .caption(stream: stream, try container.decode(Caption.self, forKey: .event))
            }
            if stream.hasPrefix("typing:"), container.contains(.event) {
                return .typing(stream: stream, try container.decode(TypingEvent.self, forKey: .event))
            }
            if stream.hasPrefix("run:"), container.contains(.event) {
                return .run(stream: stream, try container.decode(RunEvent.self, forKey: .event))
            }
            return .unknown
        }

        private static func rows(
            _ stream: String, _ container: KeyedDecodingContainer<Key>
        ) throws -> StreamRows? {
            if stream.hasPrefix("conversation:") {
                .conversation(try rowFrame(of: ConversationRow.self, container))
            } else if stream.hasPrefix("inbox:") {
                .inbox(try rowFrame(of: InboxRow.self, container))
            } else if stream.hasPrefix("marks:") {
                .marks(try rowFrame(of: MarksRow.self, container))
            } else if stream.hasPrefix("translations:") {
                .translations(try rowFrame(of: TranslationsRow.self, container))
            } else {
                nil
            }
        }

        private static func rowFrame<Row: Decodable>(
            of row: Row.Type, _ container: KeyedDecodingContainer<Key>
        ) throws -> RowFrame<Row> {
            RowFrame(
                rows: try container.decode([Row].self, forKey: .rows),
                epoch: try container.decode(String.self, forKey: .epoch),
                after: try container.decode(Int.self, forKey: .after),
                upTo: try container.decode(Int.self, forKey: .upTo),
                gap: range(try container.decodeIfPresent([Int].self, forKey: .gap)))
        }

        private struct SignalsMember: Decodable { var signals: [StreamChange] }

        private static func document(
            _ stream: String, _ container: KeyedDecodingContainer<Key>
        ) throws -> StreamDocument {
            switch stream.prefix(while: { $0 != ":" }) {
            case "user": return .user(try container.decode(UserDocument.self, forKey: .snapshot))
            case "call": return .call(try container.decode(CallMember.self, forKey: .snapshot).call)
            case "presence": return .presence(try container.decode(Presence.self, forKey: .snapshot))
            case "conversation":
                return .conversation(try container.decode(ConversationSnapshot.self, forKey: .snapshot))
            case "marks": return .marks(try container.decode(MarksSnapshot.self, forKey: .snapshot))
            case "translations":
                return .translations(try container.decode(TranslationsSnapshot.self, forKey: .snapshot))
            case "run": return .run(try container.decode(RunSnapshot.self, forKey: .snapshot))
            case "inbox": return .inbox(try container.decode(InboxPage.self, forKey: .snapshot))
            case "signals":
                return .signals(try container.decode(SignalsMember.self, forKey: .snapshot).signals)
            default: return .unknown
            }
        }
    }
}

extension StreamChange: Decodable {
    private enum Key: String, CodingKey { case seq, type, data }
    private struct Version: Decodable { var version: Int }
    private struct Removal: Decodable { var user: UserID }
    private struct Payload: Decodable { var superseded: Bool? }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        sequence = try container.decode(Int64.self, forKey: .seq)
        switch try container.decode(String.self, forKey: .type) {
        case "call": content = .call(try container.decode(Call.self, forKey: .data))
        case "participant":
            let version = try container.decode(Version.self, forKey: .data).version
            content = .participant(try container.decode(Participant.self, forKey: .data), version: version)
        case "profile": content = .profile(try container.decode(Me.self, forKey: .data))
        case "friend": content = .friend(try container.decode(Friend.self, forKey: .data))
        case "friend.removed":
            content = .friendRemoved(try container.decode(Removal.self, forKey: .data).user)
        case let type where ["offer", "answer", "candidates"].contains(type):
            // A superseded signal has only its sequence.
            let isVoid = try container.decode(Payload.self, forKey: .data).superseded == true
            content = isVoid ? .unknown(type: type) : .signal(try container.decode(Signal.self, forKey: .data))
        case "slots", "legEnded", "renegotiate": content = .leg(try container.decode(LegNotice.self, forKey: .data))
        case let type: content = .unknown(type: type)
        }
    }
}
