extension ChatAbbreviations {
    static let spanish = """
        bn | bien | all right
        ^bss ^bs | besos | kisses
        ^cdo ^cnd | cuando | when
        chido | estupendo (México) | great
        ^cmo | cómo | how, as
        compi | compañero | friend
        ^dnd | dónde | where
        ^dsd | desde | from
        ^dsps dps | después | later
        ^dtb | Dios te bendiga | God bless you
        finde | fin de semana | weekend
        ^gnl | genial | great
        grax grcs gcs grx | gracias | thank you
        guay | estupendo (España) | great
        güey wey | amigo (México) | friend
        hla holi holis | hola | hello
        ^hsta | hasta | until
        ^k ^q ^ke | que, qué | that, what
        ^kien | quién | who
        ^kiero | quiero | I want
        ^kmo | cómo | how, as
        ^lgo | luego | later
        ^mdm | me da miedo | I am afraid
        mñn mñna ^mñ | mañana | tomorrow
        mola | me gusta (España) | it is great
        msj msjs | mensaje | message
        ^mto | mucho | very
        ^mxo ^muxo ^mcho | mucho | very
        nmms | no mames (México) | rude: I do not believe it
        npi | ni puta idea | rude: I do not know
        ntc | no te creas (México) | it was a joke
        ntp | no te preocupes | don't worry
        nxe | noche | night
        ^nd | nada | nothing
        órale | de acuerdo; vamos (México) | all right
        pls plis | por favor | please
        porfa porfis porfi xfa xfis xfavor ^pf | por favor | please
        ^pq xq ^pk xk porq ^pqe | porque, por qué | because, why
        ^pa | para | for
        ^q'tal qtal ktal | ¿qué tal? | how are you?
        salu2 slds sl2 | saludos | greetings
        ^sbs | sabes | you know
        ^sq | es que | it is because
        ^tb ^tmb tmbn ^tbn tambn | también | also
        tkm tqm | te quiero mucho | I love you
        tki tqi | tengo que irme | I have to leave
        ^tmpoco ^tpoco | tampoco | neither
        ^tq ^tk | te quiero | I love you
        ^vdd | verdad | true
        ^vms ^vmos | vamos | let's go
        ^wpa guapi | guapa | dear
        ^wpo | guapo | dear
        ^xa | para | for
        ^xo | pero | but
        ^xd | risa | laughter
        ^ymm | llámame | call me
        ^tqro | te quiero | I love you
        """

    static let portuguese = """
        abs abç abçs | abraços | hugs
        add | adicionar | add as a contact
        ^agr | agora | right now
        aff affs | que chato | I am annoyed
        amg amgs | amigo, amiga | friend
        apê | apartamento | flat
        bjo bjos bjs ^bj | beijos | kisses
        blz ^blza | beleza | all right
        bora | vamos embora | let's go
        brinks | brincadeira | it was a joke
        ^cmg | comigo | with me
        ^cmo | como | how, as
        crush | pessoa de quem se gosta | the person whom one is in love with
        ^ctg ^ctgo | contigo | with you
        ^ctz | certeza | certainly
        ^dnd | de nada | you are welcome
        dps | depois | later
        eita | interjeição de surpresa | I am surprised
        ^fds | fim de semana | weekend
        ^fdp | filho da puta | rude: a bad person
        ficante | pessoa com quem se sai sem compromisso | somebody whom one is dating
        flw flws | falou | goodbye
        ^glr | galera | people
        gnt ^gt | gente | people
        ^hj | hoje | today
        ^kd | cadê | where is
        ^msg msgs | mensagem | message
        ^mds | meu Deus | oh my God
        mlk mlq | moleque | boy
        ^mt ^mto ^mta mtoo | muito | very
        ^nd | nada | nothing
        ^ngm | ninguém | nobody
        né | né, não é? | isn't it?
        ^nn | não | no
        obg obgd obgda ^brigado ^brigada brigadão | obrigado, obrigada | thank you
        ^oq | o que | that, what
        ^pfv pfvr ^plmdds pls | por favor | please
        ^pprt | papo reto | to be honest
        ^pq ^pk ^porq | porque, por que | because, why
        ^pqp | puta que pariu | rude: I am annoyed
        ^pta | puta | rude
        ^qd ^qdo ^qnd ^qndo | quando | when
        ^qq | qualquer | any
        ^qr | quer | wants
        ^qro | quero | I want
        rolê | passeio, saída | going out
        sdd sdds | saudades | I miss you
        ^slc slk | você é louco | I do not believe it
        ^slv | salve | hello
        ^sqn | só que não | it was a joke
        ^tb ^tbm tmb tbem | também | also
        ^tdb | tudo bem | all right
        ^td | tudo | everything
        ^tds | todos | everybody
        tmj tmjj | tamo junto, estamos juntos | you can count on me
        ^tlgd | tá ligado? | do you understand?
        ^vc ^vcs ^vcê | você, vocês | you
        ^vdd | verdade | true
        vlw vlws | valeu | thank you
        ^vmo ^vms | vamos | let's go
        zap zapzap | WhatsApp
        """
}
