package import Languages

/// What notifications say, in the languages of the web client.
package struct NotificationTexts: Hashable, Sendable {
    package let newMessage: String
    package let voiceMessage: String
    package let incomingCall: String
    package let incomingVideoCall: String
    package let missedCall: String
    package let missedVideoCall: String
    package let answeredElsewhere: String
    package let declinedElsewhere: String
    /// Of a call that rings no more.
    package let callEnded: String
    /// Somebody whose name is not known.
    package let somebody: String

    /// The texts in the first of a user's languages in which there are some; else in English.
    package static func inFirst(of languages: [LanguageTag]) -> Self {
        languages.lazy.compactMap { byLanguage[$0.primaryLanguage] }.first ?? english
    }

    private static let byLanguage = [
        "en": english, "es": spanish, "pt": portuguese, "ru": russian, "ar": arabic, "hi": hindi,
    ]

    package static let english = Self(
        newMessage: "New message", voiceMessage: "Voice message", incomingCall: "Incoming call",
        incomingVideoCall: "Incoming video call", missedCall: "Missed call", missedVideoCall: "Missed video call",
        answeredElsewhere: "Answered on another device", declinedElsewhere: "Declined on another device",
        callEnded: "The call has ended", somebody: "Somebody")

    private static let spanish = Self(
        newMessage: "Mensaje nuevo", voiceMessage: "Mensaje de voz", incomingCall: "Llamada entrante",
        incomingVideoCall: "Videollamada entrante", missedCall: "Llamada perdida",
        missedVideoCall: "Videollamada perdida", answeredElsewhere: "Contestada en otro dispositivo",
        declinedElsewhere: "Rechazada en otro dispositivo", callEnded: "La llamada ha terminado", somebody: "Alguien")

    private static let portuguese = Self(
        newMessage: "Nova mensagem", voiceMessage: "Mensagem de voz", incomingCall: "Chamada recebida",
        incomingVideoCall: "Chamada de vídeo recebida", missedCall: "Chamada perdida",
        missedVideoCall: "Chamada de vídeo perdida", answeredElsewhere: "Atendida em outro dispositivo",
        declinedElsewhere: "Recusada em outro dispositivo", callEnded: "A chamada terminou", somebody: "Alguém")

    private static let russian = Self(
        newMessage: "Новое сообщение", voiceMessage: "Голосовое сообщение", incomingCall: "Входящий звонок",
        incomingVideoCall: "Входящий видеозвонок", missedCall: "Пропущенный звонок",
        missedVideoCall: "Пропущенный видеозвонок", answeredElsewhere: "Принят на другом устройстве",
        declinedElsewhere: "Отклонён на другом устройстве", callEnded: "Звонок завершён", somebody: "Кто-то")

    private static let arabic = Self(
        newMessage: "رسالة جديدة", voiceMessage: "رسالة صوتية", incomingCall: "مكالمة واردة",
        incomingVideoCall: "مكالمة فيديو واردة", missedCall: "مكالمة فائتة", missedVideoCall: "مكالمة فيديو فائتة",
        answeredElsewhere: "رُدّ عليها من جهاز آخر", declinedElsewhere: "رُفضت من جهاز آخر",
        callEnded: "انتهت المكالمة", somebody: "أحدهم")

    private static let hindi = Self(
        newMessage: "नया मैसेज", voiceMessage: "वॉइस मैसेज", incomingCall: "इनकमिंग कॉल",
        incomingVideoCall: "इनकमिंग वीडियो कॉल", missedCall: "मिस्ड कॉल", missedVideoCall: "मिस्ड वीडियो कॉल",
        answeredElsewhere: "दूसरे डिवाइस पर उठाया गया", declinedElsewhere: "दूसरे डिवाइस पर अस्वीकार किया गया",
        callEnded: "कॉल खत्म हो गई", somebody: "कोई")
}
