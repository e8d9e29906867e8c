"""The people of the play: what each loves, swears by and says, and the epithets each name earns."""

# Who is talked of, on the stage and off it.
NAMES = """
Query Key Value Softmax Mask Residual Dropout Norm Adam Token Bigram Logit Gradient Epoch Corpus
Feature Weight Jacobian Xor Zero Perplexity Index Unigram Hidden Yesterday Optimum
"""

# Behind their backs people are called by an initial and a trade that begins with it: mad K the
# goat-Kisser. So the letter after the hyphen repeats the capital before, whatever the beast.
EPITHETS = {
    "Q": "Quizzer Quoter Queller Quencher Quibbler",
    "K": "Kisser Keeper Kicker Knitter Kidnapper Kneader",
    "V": "Vendor Vexer Vaunter Valuer Visitor",
    "S": "Soother Seller Shaver Squeezer Scolder Sniffer",
    "M": "Mender Mocker Minder Muncher Monger Milker",
    "R": "Robber Rider Raiser Roaster Ransomer",
    "D": "Dreader Drubber Dodger Dandler Dunker Driver",
    "N": "Nudger Nurse Needler Nagger Nibbler",
    "T": "Taster Teaser Trader Tickler Tamer Twirler",
    "B": "Biter Baiter Beater Buyer Briber Brusher",
    "G": "Greaser Gripper Groomer Guide Grabber",
    "H": "Hunter Hider Hugger Hater Hoister",
}

BEASTS = """
goat hen pig owl rat cow dog fox eel ant bee yak duck mole frog toad crab newt mule hare lamb ram
stag swan jay emu elk ibex gnu lynx zebu wasp
"""

FAVOURITES = {
    "QUERY": "quest errand search itch hunger doubt yearning pilgrimage appetite",
    "KEY": "lock hinge latch doorstep address label signpost keyring password",
    "VALUE": "purse treasure present dowry hamper legacy fortune bounty cargo",
    "SOFTMAX": "share portion percentage dukedom exponent tribunal ration probability",
    "MASK": "curtain veil blindfold shutter triangle infinity screen visor horizon",
    "RESIDUAL": "mattress granary attic shawl lullaby stream bypass staircase teacup",
    "DROPOUT": "bauble hiccup gap cowbell whistle pinprick sieve pratfall yodel nap",
    "NORM": "ruler plumbline tape average variance yoke haircut uniform level",
    "ADAM": "pill syringe stethoscope thermometer dose poultice leech tonic gargle",
    "TOKEN": "crumb pebble turnstile farthing apron lollipop mitten knapsack",
    "BIGRAM": "crutch armchair earhorn moment gruel instant nightcap monocle beard",
}

OATHS = {
    "QUERY": """
        the last unanswered letter
        my two empty hands
        whatever it is I seek
        the square root of my patience
    """,
    "KEY": """
        the bunch at my belt
        every door I ever fitted
        the rust on my teeth
        my own transpose
    """,
    "VALUE": """
        my full pockets
        all that I have to give
        the weight of my purse
        compound interest
    """,
    "SOFTMAX": """
        the number one
        all that is positive
        my exponential temper
        the sum of you all
    """,
    "MASK": """
        minus infinity
        the lower triangle
        what may not be seen
        the darkness after this word
    """,
    "RESIDUAL": """
        everything that ever was
        my dear identity
        the milk you drank
        the child you were before
    """,
    "DROPOUT": """
        half of the gods
        something or other
        the hole in my hat
        a coin that fell on its edge
    """,
    "NORM": """
        the golden mean
        unit variance
        a tiny epsilon
        all that is dull and level
    """,
    "ADAM": """
        the second moment
        a very small step
        my bias correction
        both my betas
    """,
    "TOKEN": """
        my one poor vector
        row 3 of the table
        the end of the line
        my place in the queue
    """,
    "BIGRAM": """
        the letter before this
        what was I saying
        my little table
        who are you again
    """,
}

# Said by this person only. What a sentence opens with is told apart from every other opening.
SAYINGS = {
    "QUERY": {
        "ask": """
            Wherefore doth nobody {stem} me
            Seek I {a-thing}, or doth {thing} seek me
            Hath no one here {a-thing}
            Is't not cruel to ask and ask for {a-thing}
        """,
        "say": """
            Ask me not what I seek; I shall know it when I {stem} it
            Even in sleep I {stem} {thing}
            Were I {a-thing}, some {noun} would point at me
            Half my life I have sought {a-thing}
        """,
        "cry": """
            Answer me, {thing}
            Look at me, {plural}, for I am looking at you
            Tell me but this: who {stem}ed {thing}
        """,
    },
    "KEY": {
        "ask": """
            Didst thou knock, or was it {thing}
            Fit I not the {favourite@speaker} of thy {noun}
            Am I not written on {thing} plain enough
        """,
        "say": """
            Here stand I, labelled like {a-thing}
            Whatever thou seekest, it hangs on {thing}
            Match me with {a-thing} and we shall make a fine product
            Locks have I opened that would {stem} {thing}
        """,
        "cry": """
            Pick me, and leave {thing} in the {place}
            Turn me but once, and {thing} will {stem}
            Lift the {favourite@speaker}, and see who fits
        """,
    },
    "VALUE": {
        "ask": """
            Need you {a-thing}, or will {a-thing} do
            Will no one ask what I am worth to {thing}
            Canst thou carry {a-thing} home
        """,
        "say": """
            Take {thing}; they that ask nicely may have {mass} also
            What's mine is thine, in proportion to thy {noun}
            Nothing I give is mine; I had it of {a-thing}
            Generous I am, yet {plural} reach me only in part
        """,
        "cry": """
            Open thy hands, here comes {a-thing}
            Gifts, gifts, and a {favourite@speaker} for {thing}
            Mix me, good people, with {a-thing}
        """,
    },
    "SOFTMAX": {
        "ask": """
            Do ye not sum to one, ye {plural}
            Shall I exponentiate {thing}
            Think'st thou one {noun} can have more than the whole
        """,
        "say": """
            Seven parts in ten to {thing}; the rest may share {a-thing}
            Divided by all of you, {thing} is but {a-thing}
            However low thy score, I grant thee {a-thing}
            Justice is done: the greatest takes {thing}
        """,
        "cry": """
            Order, order, or I raise {thing} to the power of {noun}
            Cool the court, or {thing} takes all
            Subtract the largest, ere {thing} explode
        """,
    },
    "MASK": {
        "ask": """
            Wouldst peep at {thing} before it comes
            Stand: who goes there, {noun} or {noun}
            Bearest thou a pass for tomorrow, or {a-thing}
        """,
        "say": """
            Tomorrow is forbidden; content thee with {thing}
            Upon the future I have hung {a-thing}
            Behind me stands {a-thing} that none shall {stem}
            Below the diagonal you may {stem} {thing}
        """,
        "cry": """
            Halt, and {stem} nothing that is yet to come
            Avert thine eyes, {thing} is not yet said
            Down, {favourite@speaker}, and hide {thing}
        """,
    },
    "RESIDUAL": {
        "ask": """
            Rememberest thou {thing}, child
            Carried I not {thing} past every layer
            Whom else could they add {thing} to
        """,
        "say": """
            Add what you like; I keep {thing} as it was
            Old as I am, I have lost no {noun}
            Layers come and layers go, and I {stem} {thing}
            When all else fails, child, pass on {thing}
        """,
        "cry": """
            Bless thee, thou wert {a-thing} when I first held thee
            Keep {thing}, and add thine own
            Lord, how the {plural} have grown
        """,
    },
    "DROPOUT": {
        "ask": """
            Knock knock; who is not there
            Lost I my {favourite@speaker}, or did {thing} lose me
            Toss we a coin for {thing}
        """,
        "say": """
            Heads, thou livest; tails, thou art {a-thing}
            Now you see {thing}, and now you do not
            Five fools had I, and whichever slept was {a-thing}
            Rely on no {noun}, for I may have eaten it
        """,
        "cry": """
            Hey ho, half of you are {plural}
            Whoops, there goes {thing}
            Sing, all of you that are not {a-thing}
            Nonny no, a {consonant-noun}, a {consonant-noun}, and no {noun}
        """,
    },
    "NORM": {
        "ask": """
            Ought {thing} to stand so far from the mean
            Could not {thing} be a little more like {thing}
            Itches it not, to be so {adj}
        """,
        "say": """
            Level heads are best; I have trimmed {thing}
            Centre thyself, then divide by {thing}
            Nobody is {adj} once I have measured them
            Before any feast, and not after, I {stem} {thing}
        """,
        "cry": """
            Stand straight, ye {plural}, and vary by one
            Even out {thing}, it wobbles
            Less {mass}, more {favourite@speaker}
        """,
    },
    "ADAM": {
        "ask": """
            Feel you a slope in {thing}
            Descend we quickly, or with {a-thing}
            Took you the {favourite@speaker} that I prescribed
        """,
        "say": """
            Gently downhill, as one might {stem} {thing}
            Warm up first, then decay; so {stem} we {thing}
            A small step a day will {stem} {thing}
            Patience: the loss of {thing} is falling
        """,
        "cry": """
            Clip the {noun}, nurse, it is about to explode
            Breathe in, breathe out, and {stem} {thing}
            Faster, my {favourite@speaker}, the valley is flat
        """,
    },
    "TOKEN": {
        "ask": """
            Please, am I {a-thing} or only half of one
            Sir, where do I stand, before {thing} or after
            May I sit by {thing}
        """,
        "say": """
            Small I am, yet somebody will {stem} me for {thing}
            Embedded as I am, I feel like {a-thing}
            Three others look as I do; only {thing} knows me by my place
            Next to {thing} I mean one thing, next to {thing} another
        """,
        "cry": """
            Wait for me, I am only {a-thing}
            Shift over, {thing}, I was here first
            Yonder comes my {favourite@speaker}
        """,
    },
    "BIGRAM": {
        "ask": """
            Eh, who {stem}ed what
            Speak up: was that {thing}, or {thing}
            Were we talking of {thing}
        """,
        "say": """
            Yesterday is a rumour; I knew {a-thing} once, or was it now
            After {a-thing} comes {a-thing}, as I have always found
            Count {thing}, count {thing}, and forget the rest
            In my day one {noun} was memory enough
        """,
        "cry": """
            Louder, I heard only the last letter of {thing}
            Stay, I had it a moment ago: {thing}
            Forgive me, I have mislaid {thing}
        """,
    },
}
