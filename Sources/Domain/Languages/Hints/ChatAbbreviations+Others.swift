extension ChatAbbreviations {
    static let russian = """
        бро | брат, друг | friend
        ваще | вообще | in general
        вк | ВКонтакте | the social network VK
        го | пойдём, давай | let's go
        гы | смех | laughter
        днюха | день рождения | birthday
        ^др | день рождения | birthday
        жиза | так бывает в жизни | that is how life is
        забей | не обращай внимания | forget it
        зашквар | позор | something embarrassing
        имхо | по моему скромному мнению | in my opinion
        инфа инфу инфы | информация | information
        ^инст инста | Инстаграм | Instagram
        кек | смех | laughter
        комп | компьютер | computer
        краш | человек, который очень нравится | the person whom one is in love with
        кринж | стыдно за других | something embarrassing
        крч | короче | in short
        кст | кстати | by the way
        ^лс личка личку | личные сообщения | private message
        лол | смех | laughter
        ^мб | может быть | maybe
        мск | Москва, по московскому времени | Moscow, or its time
        нзч незачт | не за что | you are welcome
        норм нормас | нормально | all right
        ору | громко смеюсь | laughter
        оч | очень | very
        пасиб пасибо пасибки спс спасиб спасибки сенкс | спасибо | thank you
        пж пжл пжлст плз плиз пжста | пожалуйста | please
        пипец пздц | ужас | rude: this is terrible
        пнд | понедельник | Monday
        погнали | поехали | let's go
        прив приветик | привет | hello
        рил | правда | true
        ржу ржунимагу | громко смеюсь | laughter
        сорян сорри сори ^сорь | извини | sorry
        споки спок | спокойной ночи | good night
        ^сп | спасибо | thank you
        ^тк | так как | because
        ^тп | техническая поддержка | technical support
        топчик | отлично | great
        универ универе | университет | university
        ^фиг фигня | ерунда | nonsense
        хз | хрен знает, не знаю | rude: I do not know
        хд | смех | laughter
        чел челик | человек | person
        чё че чо | что | that, what
        чзх | что за хрень | rude: I am surprised or annoyed
        чмок чмоки | целую | kisses
        ^ща щас щаз | сейчас | right now
        шмот шмотки | одежда | clothes
        юзать юзаю | использовать | use
        """

    /// Hindi is written in Latin letters too.
    static let hindi = """
        abe अबे | अरे (अशिष्ट) | hey, to somebody close; else rude
        arre arey अरे | अरे | hey, in surprise
        bakwas बकवास | बेकार की बात | nonsense
        ^bc | गाली | rude: I am annoyed
        bhai bhaiya | भाई, दोस्त | friend
        bindaas बिंदास | बेफ़िक्र | relaxed and without fear
        bro ब्रो | भाई, दोस्त | friend
        chill चिल | आराम करो | relax
        fatafat फटाफट | जल्दी से | quickly
        funda फंडा | मूल बात | basic idea
        gm जीएम | सुप्रभात | good morning
        gn जीएन | शुभ रात्रि | good night
        hbd एचबीडी | जन्मदिन मुबारक | happy birthday
        jhakaas jhakas झकास झक्कास | बहुत बढ़िया | great
        jugaad जुगाड़ | कामचलाऊ हल | a clever makeshift
        lafda लफड़ा | झगड़ा, मुसीबत | trouble
        lol लोल | हँसी | laughter
        maska मस्का | चापलूसी | flattery
        mast मस्त | बढ़िया | great
        nhi | नहीं | no
        pakka पक्का | ज़रूर | certainly
        panga पंगा | झगड़ा | trouble
        pls plz प्लीज़ प्लीज | कृपया | please
        ^rn | अभी | right now
        shukriya शुक्रिया | धन्यवाद | thank you
        sry सॉरी | माफ़ करना | sorry
        tension टेंशन | चिंता | worry
        thk | ठीक है | all right
        timepass टाइमपास | समय काटना | passing the time with something unimportant
        thx थैंक्स थैंक्यू | धन्यवाद | thank you
        vella वेल्ला | निठल्ला | somebody with nothing to do
        yaar yr यार | दोस्त | friend
        """

    /// Arabic is written in Latin letters and digits too.
    static let arabic = """
        alhamdulillah el7amdulillah hamdulillah الحمدلله | الحمد لله | thank God
        akhi أخي اخوي | أخي | friend
        برب | سأعود حالا | I will be back in a moment
        باي | مع السلامة | goodbye
        تمام tamam | حسنا | all right
        ثانكس ثانكيو | شكرا | thank you
        حبيبي habibi 7abibi حبيبتي habibti | عزيزي، عزيزتي | dear
        خلاص khalas 5alas | انتهى، كفى | enough, or agreed
        زين | جيد (الخليج) | all right
        شلونك shlonak | كيف حالك؟ (الخليج والعراق) | how are you?
        شو | ماذا (الشام) | that, what
        صباحو | صباح الخير | good morning
        طيب tayeb | حسنا | all right
        3adi | لا بأس | it is not important
        عشان | لأن، لكي | because
        فشلة | شيء محرج (الخليج) | something embarrassing
        فينك | أين أنت؟ (مصر) | where are you?
        كويس kwayes | جيد (مصر) | all right
        لول | ضحك | laughter
        ليش | لماذا (الشام والخليج) | because, why
        ليه | لماذا (مصر) | because, why
        ماشي mashi | حسنا | all right
        مافي | لا يوجد | there is none
        معليش معلش ma3lesh maalesh | لا بأس، آسف | never mind, or sorry
        مشكور مشكورة | شكرا | thank you
        نورت نورتوا | أهلا بك | welcome
        هاي | مرحبا | hello
        هلا hala | مرحبا | hello
        هلق | الآن (الشام) | right now
        دلوقتي dilwa2ti | الآن (مصر) | right now
        inshallah insha2allah انشالله انشاءالله | إن شاء الله | hopefully, if God wills
        mashallah ماشالله | ما شاء الله | well done, without envy
        والله wallah walla | أقسم بالله | I am serious
        وايد | كثير (الخليج) | very
        يعني ya3ni yaani | أعني | I mean
        يلا يلاا yalla | هيا | let's go
        """
}
