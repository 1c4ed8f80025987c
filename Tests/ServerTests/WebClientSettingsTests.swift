import Foundation
import TestSupport
import Testing

@testable import Server

/// The folder of another web client.
@Suite struct WebClientSettingsTests {
    private func settings(_ folder: String) throws -> WebClientSettings {
        try WebClientSettings(ServerConfiguration(file: nil, arguments: ["--http-web-directory", folder]))
    }

    @Test func itIsOptional() throws {
        #expect(try WebClientSettings(ServerConfiguration(file: nil)).directory == nil)
    }

    @Test func itHasAnIndex() throws {
        let directory = try ScratchDirectory()
        let index = directory.file("index.html")
        try "<!doctype html>".write(toFile: index, atomically: true, encoding: .utf8)
        let folder = String(index.dropLast("/index.html".count))
        #expect(try settings(folder).directory == folder)
        #expect(throws: ConfigurationError.self) { try settings(folder + "/nothing") }
    }
}
