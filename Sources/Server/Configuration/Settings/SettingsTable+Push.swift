extension SettingsTable {
    /// What sleeping devices are told by.
    struct Push: Sendable {
        let web = Web()
        let fcm = FCM()
        let allow = Setting<[String]>(
            "push.allow", default: [],
            "Ranges of private addresses that push services may have all the same, without TLS too, such as 10.0.0.0/8."
        )
        let authorities = Setting(
            "push.authorities", default: "",
            "PEM file of certificate authorities to trust beside the system's, for a proxy before the services of push.fcm."
        ).file

        /// Android.
        struct FCM: Sendable {
            let credentials = Setting(
                "push.fcm.credentials", default: "",
                "JSON file of a service account of your app's Firebase project, with which Android devices are told by "
                    + "Firebase Cloud Messaging; empty: they are not."
            ).file
            let url = Setting(
                "push.fcm.url", default: "https://fcm.googleapis.com",
                "Where Firebase Cloud Messaging is, or a proxy before it: an https:// URL.")
        }

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
