import Foundation
import SwitchboardClient

/// The example of the first guide, compiled with the SDK's tests.
func firstCall(_ server: String) async throws {
    // docs:begin
    let ann = try Switchboard(server)
    let ben = try Switchboard(server)
    for (client, name) in [(ann, "Ann"), (ben, "Ben")] {
        try await client.signUp(
            email: "\(UUID().uuidString)@example.org", password: "correct horse battery", displayName: name)
    }

    let answer = Task {
        for await call in await ben.incomingCalls {
            try await call.ringing()
            try await call.accept()
            return
        }
    }
    let call = try await ann.call([ben.me().id], kind: .audio, offer: "v=0")
    try await answer.value
    for await document in call.updates where document.status == .active { break }
    try await call.end()
    // docs:end
}
