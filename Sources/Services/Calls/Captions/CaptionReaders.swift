import Calls
internal import Languages
internal import Model
import Synchronization

/// Who reads the captions of calls in another language, and the captions that wait to be translated for them;
/// `CaptionTranslator` takes those.
///
/// Bounded by who is joined: an endpoint reads one language, and of a language few captions wait.
package final class CaptionReaders: Sendable {
    /// A caption in one language.
    struct Waiting: Sendable {
        var caption: Caption
        var call: CallID
        var language: LanguageTag
        /// Those who were joined when it was said, and read this language.
        var audience: [EndpointID: UserID]
        var since: ContinuousClock.Instant
    }

    struct Line: Hashable, Sendable {
        var call: CallID
        var language: LanguageTag
    }

    private struct Reader {
        var user: UserID
        var language: LanguageTag
    }

    private struct State {
        var readers: [CallID: [EndpointID: Reader]] = [:]
        var waiting: [Line: [Waiting]] = [:]
    }

    /// Of one language in one call, besides the one that is being translated: when it takes longer than people speak, the
    /// latest matters more.
    static let maxWaiting = 4

    private let state = Mutex(State())
    private let wakes = AsyncStream.makeStream(of: Line.self)

    package init() {}

    /// The lines that have something, each once until it is empty.
    var lines: AsyncStream<Line> { wakes.stream }

    /// An endpoint, which is joined, listens to captions in a language.
    ///
    /// - Returns: the language that it listened to before, if that is another one.
    func listen(_ endpoint: EndpointID, of user: UserID, to call: CallID, in language: LanguageTag) -> LanguageTag? {
        state.withLock { state in
            let before = state.readers[call]?.updateValue(Reader(user: user, language: language), forKey: endpoint)
            if before == nil, state.readers[call] == nil {
                state.readers[call] = [endpoint: Reader(user: user, language: language)]
            }
            return before.flatMap { $0.language == language ? nil : $0.language }
        }
    }

    /// The endpoint is not joined any more.
    ///
    /// - Returns: the language that it read.
    func remove(_ endpoint: EndpointID, from call: CallID) -> LanguageTag? {
        state.withLock { state in
            let removed = state.readers[call]?.removeValue(forKey: endpoint)
            if state.readers[call]?.isEmpty == true { state.readers[call] = nil }
            return removed?.language
        }
    }

    /// The user may no longer see the call.
    ///
    /// - Returns: the languages that they read.
    func remove(_ user: UserID, from call: CallID) -> Set<LanguageTag> {
        state.withLock { state in
            let own = state.readers[call]?.filter { $1.user == user } ?? [:]
            for endpoint in own.keys { state.readers[call]?[endpoint] = nil }
            if state.readers[call]?.isEmpty == true { state.readers[call] = nil }
            return Set(own.values.map(\.language))
        }
    }

    /// The call has ended.
    ///
    /// - Returns: the languages that somebody read.
    func remove(_ call: CallID) -> Set<LanguageTag> {
        state.withLock { state in
            Set(state.readers.removeValue(forKey: call)?.values.map(\.language) ?? [])
        }
    }

    /// Nobody listens to these captions any more.
    func remove(_ line: Line) {
        state.withLock { state in
            for (endpoint, reader) in state.readers[line.call] ?? [:] where reader.language == line.language {
                state.readers[line.call]?[endpoint] = nil
            }
            if state.readers[line.call]?.isEmpty == true { state.readers[line.call] = nil }
        }
    }

    /// Something was said to these endpoints.
    ///
    /// - Returns: how many captions are given up for it.
    func add(_ caption: Caption, of call: CallID, to endpoints: Set<EndpointID>) -> Int {
        let (new, dropped) = state.withLock { state in
            var audiences: [LanguageTag: [EndpointID: UserID]] = [:]
            for (endpoint, reader) in state.readers[call] ?? [:] where endpoints.contains(endpoint) {
                audiences[reader.language, default: [:]][endpoint] = reader.user
            }
            var (new, dropped): ([Line], Int) = ([], 0)
            for (language, audience) in audiences {
                let line = Line(call: call, language: language)
                let waiting = Waiting(
                    caption: caption, call: call, language: language, audience: audience, since: .now)
                if state.waiting[line] == nil {
                    state.waiting[line] = [waiting]
                    new.append(line)
                } else {
                    state.waiting[line]?.append(waiting)
                }
                if let count = state.waiting[line]?.count, count > Self.maxWaiting {
                    state.waiting[line]?.removeFirst()
                    dropped += 1
                }
            }
            return (new, dropped)
        }
        for line in new { wakes.continuation.yield(line) }
        return dropped
    }

    /// The next that waits; nil ends the line, which begins anew with the next caption.
    func next(in line: Line) -> Waiting? {
        state.withLock { state in
            guard var waiting = state.waiting[line], !waiting.isEmpty else {
                state.waiting[line] = nil
                return nil
            }
            let first = waiting.removeFirst()
            state.waiting[line] = waiting
            return first
        }
    }
}
