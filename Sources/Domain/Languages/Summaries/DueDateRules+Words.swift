extension DueDateRules {
    static let all: [String: Words] = [
        "en": Words(
            days: [0: "today,tonight,this evening,this afternoon", 1: "tomorrow,tmrw", 2: "day after tomorrow"],
            weekdays: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
            months: [
                "january,jan", "february,feb", "march", "april", "may", "june", "july", "august,aug", "september,sept",
                "october,oct", "november,nov", "december,dec",
            ], within: "in,within", dayNouns: "days,day"),
        "es": Words(
            days: [0: "hoy,esta noche,esta tarde", 1: "mañana", 2: "pasado mañana"], notAfter: "la,esta,una,cada",
            weekdays: ["lunes", "martes", "miércoles,miercoles", "jueves", "viernes", "sábado,sabado", "domingo"],
            months: [
                "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre,setiembre",
                "octubre",
                "noviembre", "diciembre",
            ], within: "en,de", dayNouns: "días,dias,día,dia"),
        "pt": Words(
            days: [0: "hoje,esta noite", 1: "amanhã,amanha", 2: "depois de amanhã,depois de amanha"],
            weekdays: ["segunda", "terça,terca", "quarta", "quinta", "sexta", "sábado,sabado", "domingo"],
            ambiguous: "segunda,terça,terca,quarta,quinta,sexta", before: "na,até,ate,para,à,próxima,nesta,esta,de",
            months: [
                "janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro",
                "novembro", "dezembro",
            ], within: "em", dayNouns: "dias,dia"),
        "ru": Words(
            days: [0: "сегодня,сегодняшнего", 1: "завтра,завтрашнего", 2: "послезавтра"],
            weekdays: [
                "понедельник,понедельника,понедельнику", "вторник,вторника,вторнику", "среда,среду,среды,среде",
                "четверг,четверга,четвергу", "пятница,пятницу,пятницы,пятнице", "суббота,субботу,субботы,субботе",
                "воскресенье,воскресенья,воскресенью",
            ],
            months: [
                "января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября",
                "ноября",
                "декабря",
            ], within: "через", dayNouns: "день,дня,дней"),
        "hi": Words(
            // `कल` and `परसों` are also yesterday and the day before: what is to be done is ahead.
            days: [0: "आज", 1: "कल", 2: "परसों"],
            weekdays: [
                "सोमवार", "मंगलवार", "बुधवार", "गुरुवार,गुरूवार,बृहस्पतिवार,वीरवार", "शुक्रवार", "शनिवार", "रविवार,इतवार",
            ],
            months: [
                "जनवरी", "फ़रवरी,फरवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर,सितम्बर",
                "अक्टूबर,अक्तूबर", "नवंबर,नवम्बर", "दिसंबर,दिसम्बर",
            ], within: "में,के", dayNouns: "दिन,दिनों"),
        "ar": Words(
            days: [0: "اليوم,الليلة", 1: "غدا,غدًا,غداً,بكرة", 2: "بعد غد,بعد الغد,بعد بكرة"],
            weekdays: [
                "الاثنين,الإثنين", "الثلاثاء", "الأربعاء,الاربعاء", "الخميس", "الجمعة", "السبت", "الأحد,الاحد",
            ],
            months: [
                "يناير", "فبراير", "مارس", "أبريل,ابريل", "مايو", "يونيو", "يوليو", "أغسطس,اغسطس", "سبتمبر",
                "أكتوبر,اكتوبر",
                "نوفمبر", "ديسمبر",
            ], within: "خلال,بعد", dayNouns: "أيام,ايام,يوم,يوما,يومًا"),
    ]
}
