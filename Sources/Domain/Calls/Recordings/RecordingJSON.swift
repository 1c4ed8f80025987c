package import Model

extension Recording {
    /// Writes the manifest. `link` returns the JSON of a link to a complete file, for the reader of this response.
    package func write(to writer: inout JSONWriter, link: (FileID) -> String) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("call", call)
            writer.member("by", by)
            writer.member("status", status.rawValue)
            writer.member("startedAt", startedAt)
            writer.member("endedAt", endedAt)
            writer.member("failure", failure)
            writer.member("reason", reason?.rawValue)
            writer.name("tracks")
            writer.array(tracks) { writer, track in
                writer.object { writer in
                    writer.member("user", track.user)
                    writer.member("endpoint", track.endpoint)
                    writer.member("source", track.source.rawValue)
                    writer.member("offsetMs", track.offset)
                    writer.member("durationMs", track.duration)
                    writer.member("byteCount", track.byteCount)
                    guard track.hasAudio else { return }
                    writer.name("audio")
                    writer.write(json: link(track.file))
                }
            }
            guard let mix else { return }
            writer.name("mix")
            mix.write(to: &writer, link: link)
        }
    }
}
