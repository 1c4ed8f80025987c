package import Languages
internal import ProviderCodecs
package import Providers

/// Programs that are started once and answer one request after the other, as `EmbeddingCodec` says: one for queries, which
/// somebody waits for, and one for all else.
///
/// They have to end when their input closes. A text that ended one twice is not given to it again; one that ended it once
/// is given to it alone.
package struct CommandEmbedder: EmbeddingEngine {
    package let model: String
    package let isHosted: Bool
    private let arguments: [String]
    private let queries: SupervisedChild
    private let passages: SupervisedChild

    /// - Parameters:
    ///   - arguments: the program, by path or by name, and its arguments.
    ///   - environment: besides what it inherits.
    package init(
        _ arguments: [String], model: String, environment: [String: String] = [:], isHosted: Bool = false,
        limits: SupervisedChild.Limits = .init()
    ) {
        self.arguments = arguments
        self.model = String(model.prefix(64))
        self.isHosted = isHosted
        func child() -> SupervisedChild {
            SupervisedChild(
                .init(
                    commands: [arguments], environment: environment, delimiter: UInt8(ascii: "\n"), delimiterCount: 1
                ) { Self.request(EmbeddingRequest(["hello"], .query)) }, limits: limits)
        }
        (queries, passages) = (child(), child())
    }

    package var program: String { arguments.first ?? "" }
    package var isInstalled: Bool { ProgramRun.isInstalled(program) }
    package var statuses: [(name: String, status: SupervisedChild.Status)] {
        [("queries", queries.status), ("passages", passages.status)]
    }

    /// Ends the programs after what waits.
    package func rest() async {
        await queries.rest()
        await passages.rest()
    }

    /// Starts them again if they ended too often.
    package func reset() {
        queries.reset()
        passages.reset()
    }

    package func embed(
        _ request: EmbeddingRequest, deadline: ContinuousClock.Instant
    ) async throws(EmbeddingFailure) -> [EmbeddingVector?] {
        let child = request.purpose == .query ? queries : passages
        var results = [EmbeddingVector?](repeating: nil, count: request.texts.count)
        var together: [Int] = []
        var alone: [[Int]] = []
        for (index, text) in request.texts.enumerated() {
            switch child.fatalCount(text.hashValue) {
            case 0: together.append(index)
            case 1: alone.append([index])
            default: break
            }
        }
        var groups = (together.isEmpty ? [] : [together]) + alone
        while let group = groups.popLast() {
            let part = EmbeddingRequest(group.map { request.texts[$0] }, request.purpose)
            do throws(EmbeddingFailure) {
                for (index, vector) in zip(group, try await vectors(of: part, by: child, deadline)) {
                    results[index] = vector
                }
            } catch {
                let count = child.fatalCount(request.texts[group[0]].hashValue)
                if group.count > 1, count == 1 {
                    // One of them has ended it.
                    groups += group.map { [$0] }
                } else if group.count > 1 || count < 2 {
                    throw error
                }
            }
        }
        return results
    }

    private func vectors(
        of request: EmbeddingRequest, by child: SupervisedChild, _ deadline: ContinuousClock.Instant
    ) async throws(EmbeddingFailure) -> [EmbeddingVector] {
        let response: [UInt8]
        do throws(ProviderFailure) {
            response = try await child.response(to: Self.request(request), deadline: deadline)
        } catch {
            throw EmbeddingFailure(error)
        }
        return try EmbeddingCodec.response(response).vectors(request.texts.count)
    }

    private static func request(_ request: EmbeddingRequest) -> SupervisedChild.Request {
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        return .init(
            EmbeddingCodec.request(id: id, request) + [UInt8(ascii: "\n")], keys: request.texts.map(\.hashValue)
        ) { (try? EmbeddingCodec.response($0))?.id == id }
    }
}
