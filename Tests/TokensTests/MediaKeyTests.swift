import Foundation
import Model
import TestSupport
import Testing
import Tokens

@Suite struct MediaKeyTests {
    let ticket = MediaTicket(
        file: .make(at: Timestamp(milliseconds: 1)), user: .make(at: Timestamp(milliseconds: 2)),
        signIn: .make(at: Timestamp(milliseconds: 4)), expires: 1_800_000_000)

    @Test func aSignatureIsForOneFileOneUserAndOneTime() {
        let key = MediaKey.ephemeral()
        let signature = key.signature(of: ticket)
        #expect(key.verifies(signature, of: ticket))
        let others = [
            MediaTicket(
                file: .make(at: Timestamp(milliseconds: 3)), user: ticket.user, signIn: ticket.signIn,
                expires: ticket.expires),
            MediaTicket(
                file: ticket.file, user: .make(at: Timestamp(milliseconds: 3)), signIn: ticket.signIn,
                expires: ticket.expires),
            MediaTicket(
                file: ticket.file, user: ticket.user, signIn: .make(at: Timestamp(milliseconds: 3)),
                expires: ticket.expires),
            MediaTicket(file: ticket.file, user: ticket.user, signIn: nil, expires: ticket.expires),
            MediaTicket(file: ticket.file, user: ticket.user, signIn: ticket.signIn, expires: ticket.expires + 1),
        ]
        for other in others { #expect(!key.verifies(signature, of: other)) }
        #expect(!MediaKey.ephemeral().verifies(signature, of: ticket))
        for wrong in ["", "A", "=", String(signature.dropLast()), signature + "A", String(signature.reversed())] {
            #expect(!key.verifies(wrong, of: ticket), "\(wrong)")
        }
    }

    @Test func theKeyIsKeptForItsOwnerAlone() throws {
        let path = try ScratchDirectory().file("media-key")
        let made = try MediaKey.load(from: path)
        #expect(made.warning == nil)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let signature = made.key.signature(of: ticket)
        #expect(try MediaKey.load(from: path).key.verifies(signature, of: ticket))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try MediaKey.load(from: path).warning?.contains("chmod 600") == true)
        try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: KeyFileError.self) { _ = try MediaKey.load(from: path) }
    }
}
