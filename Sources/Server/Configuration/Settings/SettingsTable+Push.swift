extension SettingsTable {
    /// What sleeping devices are told by.
    struct Push: Sendable {
        let web = Web()
        let allow = Setting<[String]>(
            "push.allow", default: [],
            "Ranges of private addresses that push services may have all the same, without TLS too, such as 10.0.0.0/8."
        )

        /// Browsers.
        struct Web: Sendable {
            let enabled = Setting(
                "push.web.enabled", default: true,
                "Whether browsers are told of messages and calls when the app is closed, by the push services of their makers. "
                    + "What is sent is encrypted for the browser.")
            let contact = Setting(
                "push.web.contact", default: "",
                "How push services reach you if pushes cause trouble: mailto:you@example.org or an https:// URL. Some refuse "
                    + "pushes without one.")
        }
    }
}
