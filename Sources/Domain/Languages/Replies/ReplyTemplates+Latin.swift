extension ReplyTemplates {
    static let english: [MessageIntent: Replies] = [
        .request: Replies(
            "Sure, I'll do it.|Sorry, I can't right now.|By when do you need it?",
            formal: "Certainly, I will take care of it.|Unfortunately I cannot do that now.|By when do you need it?"),
        .promise: Replies(
            "Great, thank you!|Do you need any help?|When will that be?",
            formal: "Thank you very much.|Please let me know if you need any help.|When may I expect it?"),
        .decision: Replies(
            "Sounds good.|I'm not so sure about that.|What do I need to do?",
            formal: "I agree.|I still have some doubts about that.|What would you like me to do?"),
        .question: Replies(
            "Let me check.|I don't know, sorry.|What exactly do you mean?",
            formal: "I will find out.|Unfortunately I do not know.|Could you please explain that a little more?"),
        .urgent: Replies(
            "I'm on it.|What happened?|I can't right now, sorry.",
            formal: "I will see to it at once.|What has happened?|Unfortunately I cannot do anything right now."),
        .talk: Replies(
            "Good to know!|Thanks for telling me.|Tell me more!",
            formal: "I understand.|Thank you for letting me know.|I would like to hear more about that."),
    ]

    static let spanish: [MessageIntent: Replies] = [
        .request: Replies(
            "Claro, lo hago.|Lo siento, ahora no puedo.|¿Para cuándo lo necesitas?",
            formal:
                "Por supuesto, me encargo de ello.|Lo siento, ahora no me es posible.|¿Para cuándo lo necesita usted?"),
        .promise: Replies(
            "¡Genial, gracias!|¿Necesitas ayuda?|¿Cuándo sería?",
            formal: "Muchas gracias.|Si necesita ayuda, avíseme, por favor.|¿Para cuándo sería?"),
        .decision: Replies(
            "Me parece bien.|No lo veo tan claro.|¿Qué tengo que hacer?",
            formal: "Estoy de acuerdo.|Todavía tengo algunas dudas.|¿Qué desea usted que haga?"),
        .question: Replies(
            "Déjame mirarlo.|No lo sé, lo siento.|¿A qué te refieres exactamente?",
            formal: "Lo voy a consultar.|Lamento no saberlo.|¿Podría usted explicarlo un poco más?"),
        .urgent: Replies(
            "Voy ahora mismo.|¿Qué ha pasado?|Ahora no puedo, lo siento.",
            formal: "Me ocupo de inmediato.|¿Qué ha ocurrido?|Lo siento, en este momento no me es posible."),
        .talk: Replies(
            "¡Qué bien saberlo!|Gracias por contármelo.|¡Cuéntame más!",
            formal: "Entiendo.|Gracias por informarme.|Me gustaría saber más."),
    ]

    static let portuguese: [MessageIntent: Replies] = [
        .request: Replies(
            "Claro, eu faço.|Desculpa, agora não dá.|Para quando você precisa?",
            formal: "Com certeza, vou cuidar disso.|Infelizmente, agora não é possível.|Para quando seria necessário?"),
        .promise: Replies(
            "Ótimo, valeu!|Precisa de ajuda?|Quando vai ser?",
            formal: "Agradeço muito.|Se precisar de ajuda, estou à disposição.|Para quando seria?"),
        .decision: Replies(
            "Por mim, tudo bem.|Não sei bem se concordo.|O que eu tenho que fazer?",
            formal: "Estou de acordo.|Ainda tenho algumas dúvidas.|O que devo fazer?"),
        .question: Replies(
            "Vou ver.|Não sei, desculpa.|Como assim?",
            formal: "Vou verificar.|Infelizmente, não sei.|Poderia explicar um pouco melhor?"),
        .urgent: Replies(
            "Já estou indo.|O que aconteceu?|Agora não dá, desculpa.",
            formal: "Vou tratar disso imediatamente.|O que aconteceu?|Infelizmente, neste momento não é possível."),
        .talk: Replies(
            "Que bom saber!|Valeu por contar.|Conta mais!",
            formal: "Compreendo.|Agradeço por me informar.|Gostaria de saber mais."),
    ]

    static let french: [MessageIntent: Replies] = [
        .request: Replies(
            "Oui, je m'en occupe.|Pardon, je ne peux pas là.|C'est pour quand ?",
            formal: "Certainement, je m'en charge.|Malheureusement, je ne peux pas pour le moment.|"
                + "Pour quand vous le faut-il ?"),
        .promise: Replies(
            "Super, merci !|Besoin d'aide ?|Ce sera quand ?",
            formal: "Merci beaucoup.|N'hésitez pas si vous avez besoin d'aide.|Quand pensez-vous que ce sera fait ?"),
        .decision: Replies(
            "Ça me va.|J'hésite encore un peu.|Qu'est-ce que je dois faire ?",
            formal: "C'est d'accord pour moi.|J'ai encore quelques doutes.|Que souhaitez-vous que je fasse ?"),
        .question: Replies(
            "Je regarde.|Aucune idée, pardon.|Tu peux préciser ?",
            formal: "Je vais me renseigner.|Malheureusement, je l'ignore.|Pourriez-vous préciser un peu ?"),
        .urgent: Replies(
            "J'arrive tout de suite.|Qu'est-ce qui se passe ?|Pardon, je ne peux pas là.",
            formal: "Je m'en occupe immédiatement.|Que s'est-il passé ?|"
                + "Malheureusement, je ne peux rien faire en ce moment."),
        .talk: Replies(
            "C'est bon à savoir !|Merci de me l'avoir dit.|Raconte !",
            formal: "Je comprends.|Merci de m'en avoir fait part.|J'aimerais en savoir plus."),
    ]

    static let italian: [MessageIntent: Replies] = [
        .request: Replies(
            "Certo, ci penso io.|Scusa, adesso non posso.|Per quando ti serve?",
            formal: "Certamente, me ne occupo.|Purtroppo al momento non mi è possibile.|Per quando Le serve?"),
        .promise: Replies(
            "Perfetto, grazie!|Ti serve una mano?|Quando sarà?",
            formal: "La ringrazio molto.|Se Le serve aiuto, mi faccia sapere.|Per quando sarebbe?"),
        .decision: Replies(
            "Per me va bene.|Non mi convince del tutto.|Che cosa devo fare?",
            formal: "Per me va bene, grazie.|Ho ancora qualche dubbio.|Che cosa desidera che io faccia?"),
        .question: Replies(
            "Adesso guardo.|Non lo so, scusa.|In che senso?",
            formal: "Mi informo.|Purtroppo non lo so.|Potrebbe spiegarmi meglio?"),
        .urgent: Replies(
            "Arrivo subito.|Che cosa è successo?|Adesso non posso, scusa.",
            formal: "Me ne occupo immediatamente.|Che cosa è successo?|Purtroppo in questo momento non mi è possibile."),
        .talk: Replies(
            "Buono a sapersi!|Grazie per avermelo detto.|Racconta!",
            formal: "Capisco.|La ringrazio per l'informazione.|Mi piacerebbe saperne di più."),
    ]

    static let german: [MessageIntent: Replies] = [
        .request: Replies(
            "Klar, mache ich.|Tut mir leid, gerade geht es nicht.|Bis wann brauchst du es?",
            formal:
                "Gern, ich kümmere mich darum.|Das ist mir im Moment leider nicht möglich.|Bis wann benötigen Sie es?"),
        .promise: Replies(
            "Super, danke!|Brauchst du Hilfe?|Wann ungefähr?",
            formal: "Vielen Dank.|Wenn Sie Hilfe brauchen, sagen Sie bitte Bescheid.|Wann kann ich damit rechnen?"),
        .decision: Replies(
            "Klingt gut.|Da bin ich mir nicht so sicher.|Was muss ich tun?",
            formal: "Damit bin ich einverstanden.|Ich habe noch einige Bedenken.|Was soll ich für Sie tun?"),
        .question: Replies(
            "Ich schaue mal nach.|Weiß ich leider nicht.|Wie meinst du das genau?",
            formal:
                "Ich werde mich erkundigen.|Das weiß ich leider nicht.|Könnten Sie das bitte etwas genauer erklären?"),
        .urgent: Replies(
            "Ich kümmere mich sofort darum.|Was ist passiert?|Tut mir leid, gerade geht es nicht.",
            formal: "Ich kümmere mich umgehend darum.|Was ist geschehen?|Das ist mir im Moment leider nicht möglich."),
        .talk: Replies(
            "Gut zu wissen!|Danke, dass du mir das sagst.|Erzähl mehr!",
            formal: "Ich verstehe.|Vielen Dank für die Nachricht.|Ich würde gern mehr darüber erfahren."),
    ]
}
