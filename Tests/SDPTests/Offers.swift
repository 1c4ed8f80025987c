import Foundation
import SDP
import Testing
import Wire

/// Offers of real clients, which Fixtures/capture.py wrote.
enum Offers {
    static let folder = Bundle.module.resourceURL?.appending(path: "Fixtures") ?? URL(filePath: "Fixtures")

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return files.filter { $0.hasSuffix(".offer.sdp") }.map { String($0.dropLast(".offer.sdp".count)) }.sorted()
    }()

    static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: "\(name).offer.sdp"), encoding: .utf8)
    }

    static func description(_ name: String) throws -> SessionDescription {
        try SessionDescription(parsing: text(name))
    }
}
