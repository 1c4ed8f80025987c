/// A setting of the server, for its page in `/docs`.
package struct DocsSetting: Sendable {
    let key: String
    let meaning: String
    let type: String
    let defaultValue: String
    let reloads: Bool

    package init(key: String, meaning: String, type: String, defaultValue: String, reloads: Bool) {
        self.key = key
        self.meaning = meaning
        self.type = type
        self.defaultValue = defaultValue
        self.reloads = reloads
    }

    static let path = "/docs/settings"

    /// The page with every setting.
    static func page(_ settings: [DocsSetting]) -> DocsPage {
        var page = DocsPage(
            path, "Settings", "Every setting of the server, with its default: in the file, the environment or a flag.")
        page.paragraph(
            """
            `http.port` is `http:` and below it `port:` in the YAML file, `SWITCHBOARD_HTTP_PORT` in the environment and \
            `--http-port` as a flag; a flag wins over the environment, which wins over the file. `switchboard settings` \
            prints a file with all of them. `switchboard reload` applies settings that reload; others need a restart.
            """)
        var group = ""
        for setting in settings {
            let name = String(setting.key.split(separator: ".").first ?? "")
            if name != group {
                page.heading(2, name)
                group = name
            }
            page.heading(3, setting.key, anchor: setting.key, isCode: true)
            page.entries.append(.init(anchor: setting.key, title: setting.key, text: setting.meaning))
            page.paragraph(setting.meaning)
            page.content.element("p") { html in
                html.add("\(setting.type.prefix(1).uppercased() + setting.type.dropFirst()); by default ")
                html.code(setting.defaultValue)
                html.add(setting.reloads ? ". Reloads." : ".")
            }
        }
        return page
    }
}
