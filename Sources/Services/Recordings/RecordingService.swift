package import Calls
package import MediaFiles
package import Model
import Storage

/// Recordings of calls, and the URLs of their files.
package struct RecordingService: Sendable {
    package let calls: CallService
    package let files: MediaFiles
    package let mixes: RecordingMixes
    private let links: MediaLinks

    package init(calls: CallService, files: MediaFiles, links: MediaLinks, mixes: RecordingMixes) {
        self.calls = calls
        self.files = files
        self.links = links
        self.mixes = mixes
    }

    /// Checks whether a user currently has access to the files of a recording.
    package var checker: MediaChecker {
        let commands = calls.commands
        return { resource, user, store in
            guard let id = RecordingID(resource) else { return false }
            return try store.isActive(user)
                && (try? commands.recording(id, by: Principal(user: user), in: store)) != nil
        }
    }

    /// Writes a recording as a document for a user, with the URLs of its files.
    package func write(_ recording: Recording, for principal: Principal, at now: Timestamp, to writer: inout JSONWriter)
    {
        recording.write(to: &writer) { file in
            let link = links.link(to: file, for: principal, at: now)
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("url", link.url)
                writer.member("expiresAt", link.expiresAt)
            }
            return writer.text
        }
    }
}
