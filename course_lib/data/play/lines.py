"""What may be said: sentences by mood, their parts, and couplets, in the grammar's notation.

One option a line, ``weight|template``; a / ends a line of the play.
"""

# Assertions, up to the tail that closes the sentence.
SAY = """
9|The {noun-phrase} {does}
4|Thy {noun-phrase} {does}
3|This {noun-phrase} {does}
3|That {noun-phrase} {does}
3|Our {noun-phrase} {does}
3|My {favourite@speaker} {does}
3|No {noun-phrase} {does}
2|Every {noun-phrase} {does}
2|Some {plural} {stem} {thing}; others {stem} {thing}
2|Many {plural} will {stem} {thing},/And never {stem} {thing}
2|To {stem} {thing} is to {stem} {thing}
3|They say {thing} will {stem} {thing}
2|'Tis {adj} to {stem} {thing}
2|If {mass} were {plural}, {thing} would {stem} {thing}
2|Better {a-thing} than {thing}
2|One {noun} is {mass}; 3 {plural} are {mass}
2|Whoso {stem}s {thing} shall {stem} {thing}
2|Between {thing} and {thing} lies {mass}
2|Not {thing}, but {thing}, is what we {stem}
2|Without {mass}, {thing} is but {a-thing}
2|For $3 & {a-thing} one may {stem} {thing}
2|Of all the {plural} in the {place}, {thing} is most {adj}
3|Now by {oath@speaker}, {thing} {does}
2|Methinks {thing} {does}
2|Perhaps {thing} {does}; perhaps {thing} doth
2|So {adj} is {thing} that I {stem} {thing}
2|All {plural} are {adj}, saith {thing}
2|It is written {bracket}, which none {stem}
2|Among us {plural}, {mass} is called {bracket}
3|Somewhere in the {place} sits the {=prop}
3|Mark how the {=prop} {does}
3|Mine own eyes {stem}ed the {=prop}
3|As for the {=prop}, {thing} {does}
"""

# The verb and what belongs to the subject follow the pronoun.
PERSONAL = """
20|I {person:I}{predicate}
15|Thou {person:thou}{predicate}
11|He {person:he}{predicate}
11|She {person:she}{predicate}
9|We {person:we}{predicate}
"""

# About those who are not there.
GOSSIP = """
4|There goes {nickname}, with {nickname}
4|Madam, {nickname} will {stem} {nickname}
3|Under the rose, {nickname} {stem}s {nickname}
3|Only {nickname} and {nickname} {stem}ed {thing}
3|Nightly {nickname} {stem}s {nickname}
3|Neither {nickname} nor {nickname} {stem}s {thing}
2|Compared with {nickname}, {nickname} is {adj}
2|Marry, {nickname} {stem}ed {nickname}; {nickname} wept
2|Last week {nickname} {stem}ed {nickname}
2|By Sunday {nickname} will wed {nickname}
"""

# A thing is told of, and named again in the line that follows.
TELL = """
4|Once there was {a-topic} in the {place};/And {nickname} {stem}ed the {=topic}{again}
4|A friend of mine {stem}ed {a-topic};/And {nickname} {stem}ed that {=topic}{again}
3|Suppose you had {a-topic} and {mass}:/Would {nickname} {stem} the {=topic}{again}
3|Yesterday I weighed {a-topic};/Alas, {nickname} outweighed the {=topic}{again}
3|Under my bed lies {a-topic}, for {mass};/May {nickname} {stem} the {=topic}{again}
3|Give me but {a-topic} to {stem},/And {nickname} shall {stem} the {=topic}{again}
3|Cousin, lend me {a-topic} and {mass};/I shall {stem} the {=topic}{again}
3|Heaven sent {a-topic} to {stem} {mass},/And {adj} is every {=topic}{again}
3|Last night I {stem}ed {a-topic}:/It was {adj}, as befits the {=topic}{again}
3|Men have {stem}ed {a-topic}:/Most {adj} is the {=topic}{again}
"""
ASK = """
9|What {noun-phrase} {does}
9|Who {does}
5|Why doth {thing} {stem} {thing}
5|Where is {thing}
4|Is {thing} {adj}, or hath it {stem}ed {thing}
4|Art thou {adj}, or {adj}
4|Dost thou {stem} {thing}
3|Doth {thing} {stem} {thing}
4|How {adj} is {thing}
3|Must I {stem} {thing}
3|Can {thing} {stem} {thing}
3|Hast thou {stem}ed {thing}
3|Wilt thou {stem} {thing}
3|Wouldst thou {stem} {thing}
3|Have we {stem}ed {thing}
3|Did {thing} {stem} {thing}
3|Which {noun} is mine, the {adj} or the {adj}
3|Whose {noun} {does}
3|When shall {thing} {stem} {thing}
3|Are {plural} not {adj}
3|Was it thou that {stem}ed {thing}
5|Whither went the {=prop}
4|Hath anyone {stem}ed the {=prop}
4|May one {stem} the {=prop}
3|Shall we {stem} the {=prop}
2|Why should I {stem} {thing}, that never {stem}ed me
"""

CRY = """
7|O {adj} {noun}, O {adj} {noun}
5|Out, thou {adj} {noun}
4|Begone, thou {adj} {noun}
4|Peace, ye {adj} {plural}
4|Away with {thing}
4|Fie upon {thing}
4|Alas, {thing} {does}
6|Behold {a-prop}
5|See, I have brought {a-prop}
4|Would that {thing} might {stem} {thing}
5|Give back the {=prop}
4|Drop the {=prop}, thou {adj} {noun}
4|Ah, that {=prop} will {stem} {thing}
3|Long live {thing}
3|Hang {thing}, and {stem} {thing}
3|Hark, {thing} {does}
3|Ha, {thing} {does}
3|Zounds, {thing} {does}
3|Jest not with {thing}
3|Beware of {thing}
3|Never {stem} {thing}
3|Come, {stem} {thing}
3|Help, {thing} {does}
3|Quick, {stem} {thing}
3|Let {thing} {stem} {thing}
3|Pray {stem} {thing}
3|Enough of {thing}
3|Woe to {thing} that {stem}s {thing}
3|Go, {stem} thy {noun}
2|Villain, thou hast {stem}ed {thing}
2|Vile {noun}, unhand {thing}
"""

# The same, as a question.
INQUIRE = """
3|Know you {a-topic} that is {adj}?/Or must I {stem} the {=topic}{again}
3|Saw you {a-topic} in the {place}?/Did {nickname} {stem} the {=topic}{again}
3|Had I but {a-topic} to {stem},/Who would {stem} my {=topic}{again}
2|Think you {a-topic} worth all {mass}?/Or is {thing} the better {=topic}{again}
"""

# And once more.
AGAIN = """
4|, the {adj} {=topic}
3|; and {nickname} the {=topic}'s {noun}
2|: the {noun} of the {=topic}
4| or the {adj} {=topic}
"""

# How a sentence ends; what closes it depends on the mood it opened in.
TAIL = """
56|{end}
33| {adjunct}{end@mood}
14|, {address@partner}{end@mood}
"""

ENDS = {"say": ".", "ask": "?", "cry": "!"}

ADJUNCT = """
5|in the {place}
2|like {a-thing}
2|with {thing}
2|for want of {mass}
2|before {thing}
2|by {oath@speaker}
3|because I {person:I}{predicate}
3|when thou {person:thou}{predicate}
3|while he {person:he}{predicate}
3|till she {person:she}{predicate}
3|as we {person:we}{predicate}
44|{noun=unit} {link} {=unit}
"""

LINK = """
9|by
6|after
4|upon
3|for
2|against
"""

AFTER = """
20|/
6| {rejoinder}/
"""

REJOINDER = """
2|So be it.
2|Ay, and {nickname} too.
2|Nay, {mass}.
2|Hush, {address@partner}.
2|But I digress.
2|Well, well, {adj}.
1|More {mass}!
1|Such is {mass}.
1|God save the {noun}!
1|Who knew?
1|Think on it.
1|I say no more.
1|And yet, {mass}.
1|Mark me, {address@partner}!
1|Laugh not.
1|You may {stem} me.
1|Or {adj}.
"""

# Parts of sentences.
PREDICATE = """
4|{stem}{ending@person}{object@person}
3|{adverb} {stem}{ending@person}{object@person}
3|both {stem}{ending@person}{object@person} and {stem}{ending@person}{object@person}
"""

ENDINGS = {"I": " ", "thou": "est ", "he": "eth ", "she": "eth ", "we": " "}
OWN = {"I": "my", "thou": "thy", "he": "his", "she": "her", "we": "our"}

DOES = """
9|{stem}s {thing}
4|{adverb} {stem}s {thing}
4|is {adj}
2|was {adj} ere {thing} {stem}ed it
3|will {stem} {thing}
2|would {stem} {thing}
3|hath {stem}ed {thing}
2|must {stem} {thing}
2|cannot {stem} {thing}
1|dares to {stem} {thing}
"""

THING = """
16|the {noun-phrase}
4|this {noun-phrase}
4|that {noun-phrase}
4|any {noun-phrase}
9|{a-thing}
3|such {mass}
2|too much {mass}
3|some {adj} {noun}
24|yonder {=prop}
10|{noun=unit} {link} {=unit}
4|mine own {favourite@speaker}
2|one {favourite@speaker} too many
50|{nickname}
5|{name}
10|{bracket}
"""

NOUN_PHRASE = """
7|{noun}
16|{adj} {noun}
4|dear {favourite@speaker}
3|poor old {favourite@speaker}
9|aforesaid {=prop}
"""

# The same after a, and after an.
CONSONANT_NOUN_PHRASE = """
8|{consonant-noun}
14|{consonant-adj} {noun}
3|dear {favourite@speaker}
2|poor old {favourite@speaker}
"""

VOWEL_NOUN_PHRASE = """
4|{vowel-noun}
5|{vowel-adj} {noun}
"""

A_THING = """
3|a {consonant-noun-phrase}
2|an {vowel-noun-phrase}
"""

NICKNAME = """
3|mad {initial=butt} the {beast}-{epithet@butt}
3|old {initial=butt} the {beast}-{epithet@butt}
2|good {initial=butt} the {beast}-{epithet@butt}
2|fat {initial=butt} the {beast}-{epithet@butt}
1|young {initial=butt} the {beast}-{epithet@butt}
1|sly {initial=butt} the {beast}-{epithet@butt}
"""

BRACKET = """
3|'{quote:single}{noun}{quoted@quote}
2|${quote:dollar}{noun}{quoted@quote}
"""

COUPLET = """
3|Whenever {plural} {stem} the {opening=rhyme},/{second}{stanza}
3|Beyond the {noun}, above the {opening=rhyme},/{second}{stanza}
2|Since {nickname} {stem}ed the {opening=rhyme},/{second}{stanza}
3|Through {mass} and through the {opening=rhyme},/{second}{stanza}
2|Around the {place}, around the {opening=rhyme},/{second}{stanza}
2|While {mass} did {stem} the {opening=rhyme},/{second}{stanza}
3|Sweet {noun}, sweet {noun}, sweet {opening=rhyme},/{second}{stanza}
2|We'll {stem} {mass} by the {opening=rhyme},/{second}{stanza}
2|Farewell, {noun}, farewell, {opening=rhyme},/{second}{stanza}
2|Sing {mass}, and sing the {opening=rhyme},/{second}{stanza}
2|Though {nickname} {stem}s the {opening=rhyme},/{second}{stanza}
"""

SECOND = """
3|And {nickname} {stem}ed my {closing@rhyme}
2|There {stem}s some {adj} {closing@rhyme}
3|The {adj} {closing@rhyme}
2|I {stem} the {adj} {closing@rhyme}
2|No {noun} {stem}s the {closing@rhyme}
2|My {noun} and my {closing@rhyme}
2|To {stem} the {noun} or {closing@rhyme}
2|For {nickname} and the {closing@rhyme}
2|O {adj}, {adj} {closing@rhyme}
"""

STANZA = """
4|,/{second}{close}
3|.
1|!
"""

CLOSE = """
4|.
1|!
1|?
"""

# What has a variant for each speaker, person or mark stands here once; {own}, {name} and {mark}
# are filled in when the rules are put together.
QUOTES = {"single": "'", "dollar": "$"}

QUOTED = """
3|{mark}
2| {link} {noun}{quoted@quote}
"""

OBJECT = """
9|{own} {noun-phrase}
5|{thing}
1|all {plural}
1|3 {plural}
"""

ADDRESS = """
4|{name}
2|good {name}
1|my dear {name}
1|sweet {name}
1|poor {name}
1|Master {name}
"""

LINE = """
26|{mood:say}{personal}{tail@mood}{after}
13|{mood:say}{gossip}{tail@mood}{after}
5|{mood:say}{say}{tail@mood}{after}
10|{mood:say}{tell}{tail@mood}{after}
10|{mood:ask}{ask}{tail@mood}{after}
6|{mood:ask}{inquire}{tail@mood}{after}
11|{mood:cry}{cry}{tail@mood}{after}
7|{mood:say}{say.{own}}{tail@mood}{after}
5|{mood:ask}{ask.{own}}{tail@mood}{after}
7|{mood:cry}{cry.{own}}{tail@mood}{after}
22|{couplet}/
"""

MORE = """
2|/{turn@speaker,partner}
3|{line.{own}}{more@speaker}
"""
