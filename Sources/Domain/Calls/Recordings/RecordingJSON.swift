import Model

extension Recording {
    /// The manifest. `link` says where the file of a track that is whole can be had, as JSON, for who asks now.
    package func write(to writer: inout JSONWriter, link: (Track) -> String?) {
        writer.object { writer in
            writer.member("id", id)
            writer.member("call", call)
            writer.member("by", by)
            writer.member("status", status.rawValue)
            writer.member("startedAt", startedAt)
            writer.member("endedAt", endedAt)
            writer.member("failure", failure)
            writer.name("tracks")
            writer.array(tracks) { writer, track in
                writer.object { writer in
                    writer.member("user", track.user)
                    writer.member("endpoint", track.endpoint)
                    writer.member("source", track.source.rawValue)
                    writer.member("offsetMs", track.offset)
                    writer.member("durationMs", track.duration)
                    writer.member("byteCount", track.byteCount)
                    guard let json = link(track) else { return }
                    writer.name("audio")
                    writer.write(json: json)
                }
            }
        }
    }
}
