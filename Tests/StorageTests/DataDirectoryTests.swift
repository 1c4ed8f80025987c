import Foundation
import Storage
import TestSupport
import Testing

@Suite struct DataDirectoryTests {
    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber).intValue
    }

    private func makeFile(_ path: String, mode: Int) {
        #expect(
            FileManager.default.createFile(
                atPath: path, contents: Data("x".utf8), attributes: [.posixPermissions: mode]))
    }

    @Test func theDirectoryIsHeldByOneServer() throws {
        let directory = try ScratchDirectory()
        let path = directory.file("data/deep")
        var first: DataDirectory? = try DataDirectory(path: path, creates: true)
        let error = try #require(throws: SQLError.self) { _ = try DataDirectory(path: path, creates: true) }
        #expect(error.kind == .locked)
        #expect(error.message.contains("/data/deep"))
        #expect(first?.file("x") == path + "/x")
        first = nil
        _ = try DataDirectory(path: path, creates: true)
    }

    @Test(arguments: [true, false])
    func aFileInTheWayIsNamed(creates: Bool) throws {
        let directory = try ScratchDirectory()
        makeFile(directory.file("file"), mode: 0o755)
        let error = try #require(throws: SQLError.self) {
            _ = try DataDirectory(path: directory.file("file"), creates: creates)
        }
        #expect(error.kind == .unwritable)
        #expect(error.message.contains("storage.path is \(directory.file("file")), which is a file"))
        let below = try #require(throws: SQLError.self) {
            _ = try DataDirectory(path: directory.file("file/below"), creates: true)
        }
        #expect(below.kind == .unwritable && below.message.contains("/file/below"))
    }

    @Test func onlyWhoMayMakesOne() throws {
        let directory = try ScratchDirectory()
        let path = directory.file("data")
        let missing = try #require(throws: SQLError.self) { _ = try DataDirectory(path: path) }
        #expect(missing.kind == .missing && missing.message.contains("There is no data directory at \(path)"))
        #expect(missing.message.contains("storage.path"))
        #expect(!FileManager.default.fileExists(atPath: path))

        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let empty = try #require(throws: SQLError.self) { _ = try DataDirectory(path: path) }
        #expect(empty.kind == .missing && empty.message.contains("has no database"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)

        makeFile(path + "/" + DataDirectory.databaseName, mode: 0o600)
        _ = try DataDirectory(path: path)
    }

    @Test func whatOthersMayReadIsMended() throws {
        let directory = try ScratchDirectory()
        let path = directory.file("data")
        try FileManager.default.createDirectory(
            atPath: path + "/media/deep", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        makeFile(path + "/" + DataDirectory.databaseName, mode: 0o644)
        makeFile(path + "/signing-key.pem", mode: 0o640)
        makeFile(path + "/media/file", mode: 0o666)
        makeFile(directory.file("outside"), mode: 0o644)
        try FileManager.default.createSymbolicLink(
            atPath: path + "/link", withDestinationPath: directory.file("outside"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)

        let held = try DataDirectory(path: path)
        #expect(try mode(path) == 0o700 && mode(path + "/media") == 0o700)
        for name in [DataDirectory.databaseName, "signing-key.pem", "media/file"] {
            #expect(try mode(held.file(name)) == 0o600, "\(name)")
        }
        #expect(try mode(directory.file("outside")) == 0o644, "Links are not followed.")
    }

    @Test func aSharedDirectoryKeepsItsMode() throws {
        let directory = try ScratchDirectory()
        let path = directory.file("shared")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: path)
        _ = try DataDirectory(path: path, creates: true)
        #expect(try mode(path) == 0o1777)
    }
}
