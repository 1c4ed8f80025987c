extension ChatAbbreviations {
    static let english = """
        afaik | as far as I know
        afair | as far as I remember
        afk | away from keyboard | not at the computer now
        aka | also known as
        ^asl | age, sex, location | asks how old you are, whether you are a man or a woman, and where you live
        ^atm | at the moment | right now
        b4 | before
        bae | before anyone else | the person whom one loves
        bbl | be back later | I will be back later
        bbs | be back soon | I will be back soon
        ^bc ^cuz ^coz ^cos ^bcz bcoz | because
        bday | birthday
        ^bff | best friend forever | best friend
        ^bf | boyfriend
        ^gf | girlfriend
        brb | be right back | I will be back in a moment
        bro | brother | friend
        btw | by the way
        ^byob | bring your own bottle | guests bring what they drink
        ^cya | see you | see you later
        ^dm ^dms | direct message | private message
        ^dw | don't worry
        eod | end of the day
        eta | estimated time of arrival | when somebody will arrive
        ^ffs | for fuck's sake | rude: I am annoyed
        fomo | fear of missing out | being afraid to miss something that others enjoy
        ftw | for the win | this is the best
        fwiw | for what it's worth | I am not sure that it helps
        fyi | for your information
        ^g2g ^gtg | got to go | I have to leave
        ^gg | good game | well played
        ^gl | good luck
        ^glhf | good luck, have fun
        ^gm | good morning
        ^gn | good night
        gonna | going to
        gotta | have got to | must
        gr8 | great
        ^hbd | happy birthday
        ^hmu | hit me up | write to me or call me
        hru | how are you?
        ^ic | I see | I understand
        ^icymi | in case you missed it
        idc | I don't care
        idgaf | I don't give a fuck | rude: I do not care
        idk ^dunno | I don't know
        iirc | if I remember correctly
        ikr | I know, right? | I agree
        ^ily ^ilu ilysm | I love you
        imho | in my humble opinion | in my opinion
        imo | in my opinion
        irl | in real life | not on the Internet
        ^istg | I swear to God | I am serious
        jk ^jks | just kidding | it was a joke
        ^kk | okay | all right
        l8r | later | see you later
        ^lemme | let me
        lmao lmfao | laughing my ass off | laughter
        lmk | let me know | tell me
        lol lolz | laughing out loud | laughter
        ^mfw | my face when | how I felt when
        ^mb | my bad | it was my mistake
        msg msgs | message
        ^nbd | no big deal | it is not important
        ^nm | not much | nothing special
        ^np | no problem | you are welcome
        nsfw | not safe for work | has sex, violence or bad language
        ^nvm ^nvmd | never mind | forget it
        omfg | oh my fucking God | oh my God
        omg | oh my God
        omw | on my way | I am coming
        ^oot | out of town
        ^otp | on the phone
        pls plz plss | please
        ^pov | point of view
        ppl | people
        ^qq | quick question
        rn | right now
        rofl | rolling on the floor laughing | laughter
        ^rsvp | répondez s'il vous plaît | please say whether you come
        sis | sister | friend
        smh | shaking my head | I am disappointed
        ^smth ^sth | something
        sry | sorry
        stfu | shut the fuck up | rude: be quiet
        ^sus | suspicious
        tba | to be announced | it will be announced later
        tbd | to be decided | it will be decided later
        tbf | to be fair
        tbh | to be honest
        tfw | that feeling when
        thx thnx tnx ^ty tysm tyvm ^thanx | thank you
        tldr | too long; didn't read | in short
        tmi | too much information | I did not want to know that
        ^tmrw ^tmr ^tmw 2moro 2mrw | tomorrow
        ttyl | talk to you later | see you later
        ttys | talk to you soon | see you soon
        ^u | you
        ^ur | your
        wbu ^hbu | what about you? | and you?
        wdym | what do you mean?
        wfh | working from home
        wrt | with respect to | about
        ^wtf | what the fuck | rude: I am surprised or annoyed
        wth | what the hell | I am surprised or annoyed
        wya | where are you?
        ^wyd | what are you doing?
        xoxo | hugs and kisses
        y'all | you all
        yolo | you only live once
        ^yw | you're welcome | you are welcome
        """
}
