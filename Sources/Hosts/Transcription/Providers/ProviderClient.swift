internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Requests to providers over HTTP, with which nothing is trusted: no redirect is followed, the answer has a bound and the
/// whole exchange a deadline, however slowly it trickles in.
final class ProviderDoor: Sendable {
    struct Answer: Sendable {
        var status: Int
        var body: [UInt8]
        var retryAfter: Duration?
    }

    /// What is said about a failure is no longer.
    private static let longestReason = 200
    private static let largestRefusal = 64 << 10

    private let client: HTTPClient

    /// - Parameter addresses: what names lead to, in place of what the resolver says.
    init(addresses: [String: String] = [:]) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(10)
        // A refused connection is told at once: what is tried again is the queue's to decide.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = addresses
        client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    deinit { client.shutdown { _ in } }

    func post(
        _ body: [UInt8], to url: String, headers: [(String, String)], largestAnswer: Int,
        deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.replaceOrAdd(name: "User-Agent", value: "Switchboard")
        request.body = .bytes(ByteBuffer(bytes: body))
        let prepared = request
        let client = client
        return try await Deadline.race(deadline) { () async throws(TranscriptionFailure) in
            try await Self.exchange(prepared, client, largestAnswer)
        }
    }

    private static func exchange(
        _ request: HTTPClientRequest, _ client: HTTPClient, _ largestAnswer: Int
    ) async throws(TranscriptionFailure) -> Answer {
        do {
            // The race has the deadline; this one only has to be later.
            let response = try await client.execute(request, timeout: .hours(24))
            let isSuccess = (200..<300).contains(response.status.code)
            var body: [UInt8] = []
            for try await part in response.body {
                if isSuccess, body.count + part.readableBytes > largestAnswer {
                    throw TranscriptionFailure.answerTooLarge(limit: largestAnswer)
                }
                body += part.readableBytesView
                // Of a refusal the beginning says enough.
                if !isSuccess, body.count > largestRefusal { break }
            }
            let patience = response.headers.first(name: "Retry-After").flatMap { Int64($0) }
            return Answer(
                status: Int(response.status.code), body: body,
                retryAfter: patience.flatMap { (0...86_400).contains($0) ? .seconds($0) : nil })
        } catch let failure as TranscriptionFailure {
            throw failure
        } catch is CancellationError {
            throw .cancelled
        } catch let error as HTTPClientError where error == .cancelled {
            throw .cancelled
        } catch let error as HTTPClientError where isOfTime(error) {
            throw .unreachable("it did not answer")
        } catch {
            throw .unreachable(words(for: error))
        }
    }

    private static func isOfTime(_ error: HTTPClientError) -> Bool {
        [.connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout, .deadlineExceeded].contains(error)
    }

    private static func words(for error: any Error) -> String {
        switch error {
        case is NIOConnectionError, is IOError: "the connection was refused or broke"
        case let error as HTTPClientError where error == .remoteConnectionClosed: "it closed the connection"
        default: String("\(error)".prefix(longestReason))
        }
    }

    /// What a refusal says: the message within JSON as most services write it, else its first words.
    static func reason(_ body: [UInt8]) -> String {
        struct Refusal: Decodable {
            struct Message: Decodable {
                var message: String

                init(from decoder: any Decoder) throws {
                    struct Object: Decodable { var message: String }
                    if let object = try? Object(from: decoder) {
                        message = object.message
                    } else {
                        message = try decoder.singleValueContainer().decode(String.self)
                    }
                }
            }
            var error: Message?
            var detail: String?
            var message: String?
        }
        let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(body))
        let text =
            refusal.flatMap { $0.error?.message ?? $0.detail ?? $0.message }
            ?? String(decoding: body.prefix(4 * longestReason), as: UTF8.self)
        return String(TranscriptAnswer.tidied(text).prefix(longestReason))
    }
}
