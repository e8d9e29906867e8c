"""The words of the play: lists by kind, each so made that no word begins another of its list."""

NOUNS = """
head heart letter vowel comma riddle ledger mirror candle sonnet lantern matron vector
cupboard window corridor garden bishop baker butcher widow merchant sailor tailor lawyer
scholar pedant poet lover liar jester beggar baron cousin uncle nephew sister brother tutor
barber usher neighbour stranger rival suitor spaniel donkey parrot badger herring lobster
oyster sparrow pigeon rooster weasel otter kitten tadpole beetle pumpkin turnip carrot
pudding dumpling custard biscuit muffin onion leek pillow blanket bonnet slipper stocking
trumpet fiddle bagpipe bassoon drum hymn rumour secret promise sermon quarrel wager bargain
banquet jewel ribbon bucket ladder hammer needle anchor rudder wheel chimney cellar attic
tower bridge tunnel gutter river mountain meadow forest island harbour thunder rainbow
shadow whisker elbow shoulder eyebrow nostril knuckle kidney forehead ankle moustache
wig button pocket number fraction quotient integer decimal corner circle triangle diagram
margin footnote chapter paragraph sentence syllable proverb metaphor pronoun verdict
petition rebellion marriage funeral holiday birthday miracle puzzle question gambit blunder
jigsaw yardstick zealot quibble quill axiom example engine insult error alibi orphan omen
eagle emperor artist apple acorn almond organ argument idea dragon goblin wizard unicorn
mermaid giant pirate bandit captain colonel sergeant bailiff magician juggler minstrel
hermit prophet monk abbot knave villain traitor rascal braggart glutton tyrant vagabond
spectre vampire philosopher astronomer plumber cobbler chambermaid landlord lodger godmother
grandson bridegroom ferret hedgehog squirrel peacock crocodile camel lizard scorpion hornet
earwig caterpillar magpie vulture falcon swan gosling cucumber parsnip apricot hinterland
glacier iceberg hurricane puddle engraving sculpture limerick ballad lampoon
pamphlet placard manuscript blot semicolon asterisk bracket hyphen exponent logarithm
polygon hexagon pyramid spiral zephyr zodiac jailer jackdaw kingdom ukulele umpire vestibule
wardrobe quagmire quarter xylophonist
"""

MASS = """
memory silence wax syntax flux paradox grammar patience envy applause moonlight gravy
mustard butter vanity jealousy wisdom folly justice mercy poverty velvet gossip arithmetic
algebra geometry music laughter sorrow slumber weather honesty vinegar porridge gunpowder
ink oblivion entropy energy excess obedience ambition attention embarrassment evidence
context nonsense prudence rhetoric satire treason virtue wit youth zeal luxury quicksilver
jurisprudence marmalade perfume bandwidth surprise regret hindsight foresight noise warmth
"""

PROPS = """
thimble ladle teapot umbrella compass spyglass abacus hourglass sundial padlock corkscrew
nutcracker tambourine telescope feather goblet saddle horseshoe candlestick inkwell notebook
postcard parcel envelope bathtub wheelbarrow birdcage mousetrap fishhook doorknob keyhole
bellows snuffbox quilt apron waistcoat buckle necklace bracelet brooch earring crown sceptre
throne dagger cannon catapult helmet gauntlet banner kettle skillet cauldron periwig cheese
sausage pie trifle pineapple coconut walnut egg mushroom cabbage artichoke violin oboe
accordion kazoo xylophone puppet kite marble domino zither jukebox portrait statue map globe
almanac diary barometer bathrobe bugle chandelier chessboard clarinet coronet crowbar
cutlass doormat drumstick dustpan eiderdown fez flagpole flute footstool fruitcake gargoyle
garter hammock handkerchief harpoon inkblot jampot jigsaw kilt lamppost letterbox lute
magnet megaphone monocle nightshirt oar octopus pancake parasol periscope pitchfork quiver
rattle rucksack sandal sandwich scarf scythe semaphore snowglobe spoon stool sword
tablecloth teaspoon tiara toupee trombone tureen turban unicycle urn vase wedge whip wreath
yoyo zeppelin
"""

ADJECTIVES = """
sweet gentle noble humble proud weary merry gloomy learned foolish crooked upright tiny
monstrous mighty feeble sleepy lazy nimble clumsy crafty greedy thirsty hungry frugal lavish
lonely jealous zealous furious curious dubious glorious tedious hideous envious anxious
vicious gracious silken wooden golden silvery leaden rusty dusty mouldy greasy sticky
slithery frosty rainy windy cloudy sunny moonlit starry shabby sheepish public private
perfect broken bent hollow solid spotless faded forgotten forbidden borrowed unmasked uneven
unlucky unread awkward ancient modern youthful elderly infant endless eternal brief sudden
tardy punctual random orderly linear quadratic sparse dense shallow profound narrow lofty
lowly plump skinny hairy bald bearded querulous quiet quaint queasy noisy musical tuneless
tuneful clever cunning stubborn pliant meek savage civil vulgar vain modest pompous pious
wicked saintly virtuous dishonest faithful fickle ticklish bashful boastful doleful cheerful
fearful harmless aimless tasteless matchless vexed complex exact lax toxic zigzag crazy
dizzy hazy jolly jaunty juicy uncommon average brave timid bold coy shy haughty sullen sulky
peevish grumpy cranky ravenous drunken sober frantic frenzied languid listless restless
tireless spiteful hateful wistful mournful woeful graceful disgraceful rightful wasteful
purple crimson scarlet emerald ivory azure pale pallid ruddy swarthy freckled curly wrinkled
toothless barefoot hunchbacked bowlegged potbellied squinting limping mediocre excellent
ordinary extraordinary peculiar regular singular plural rectangular rational irrational
improbable impossible plausible laughable lamentable unspeakable whispering howling mumbling
stammering snoring sneezing yawning dripping smouldering frozen melted pickled roasted
buttered peppered candied rancid sour bitter salty overpaid underfed oversized threadbare
secondhand exalted exiled exotic waxen foxy boxy jaded jinxed juvenile quixotic unequal zany
"""

# Each takes -s, -ed, -est, -eth and -ing as it stands.
VERBS = """
adorn anoint answer appoint ask attend avow beckon betray borrow claim command comfort
conceal conquer consult contradict correct count court crown cover defend demand destroy
disdain doubt employ enchant enjoy envelop exalt expect explain fear flatter follow forward
gather greet guard hammer haunt honour hoard inherit insult interrupt invent kick lament
limit mask master mend mourn murder neglect obey offend pardon ponder protect question
recall reckon regard reject remember render repair repeat report respect reward scatter
scorn select shelter slander soften spoil suspect sweeten temper toast trust unravel utter
visit want weaken weigh whisper abandon abduct accost alarm amend applaud assault assist
awaken bewilder burden blackmail butter conduct confront decant detest devour disturb
dissect divert endow entertain escort exhort exploit fatten invert jilt knight loosen
moisten outlast overlook perfect pester pilfer pinpoint plunder proclaim quieten ransack
resent smother strengthen summon surround torment transport uncork unmask unseat upend
"""

ADVERBS = """
softly gladly sadly madly boldly coldly meekly wisely blindly loudly nightly dearly barely
fully truly seldom often never always swiftly slowly justly vainly hourly yearly quickly
quietly queerly keenly idly oddly unduly earnestly eagerly openly secretly solemnly sweetly
bravely fondly firmly hotly humbly jestingly kindly lightly nearly nobly plainly proudly
roughly rudely sharply sternly stoutly tamely thereby warmly weirdly zestfully vexedly
"""

PLACES = """
pantry library orchard kitchen cloister tavern market ballroom graveyard courtroom stable
chapel bakery dungeon vineyard theatre lighthouse treasury laundry bathhouse museum nursery
observatory countinghouse cache stairwell belfry labyrinth wardrobe swamp desert moat
hayloft coalhole queue jungle zoo vault exchange embassy infirmary alehouse icehouse
"""

# Nouns that close a line of verse; two of one row rhyme.
RHYMES = """
night light knight flight height sight kite might
day clay bay play ray tray sleigh quay
moon spoon tune June noon balloon cartoon lagoon
heart chart dart tart part
word bird herd third curd
mind kind rind hind behind
sea bee tree knee plea fee
queen bean scene machine cuisine tambourine routine
sleep sheep heap leap jeep
fear ear spear peer cheer
fire choir wire liar attire desire squire
bed thread bread shed lead dread
song gong throng prong wrong
stone bone throne loan drone moan
rose nose prose hose pose
gold fold mould threshold blindfold scaffold
crown gown town frown clown noun
rain chain brain drain lane crane grain
face lace place space case grace
fate gate plate weight debate estate
door floor shore chore roar war
love dove glove shove
ring king string wing spring
sum drum plum thumb crumb
mouse house spouse grouse
shoe stew view glue queue crew
pool fool stool mule rule
cat hat bat mat gnat
dish fish wish
box fox paradox ox
rug jug mug bug
lark spark shark
boat goat throat note
hill mill quill thrill
snake cake lake steak
nail whale tale veil
cloud crowd shroud
ladle cradle
lord sword chord cord
lamb jam clam ham
kettle nettle metal petal
butter gutter stutter shutter
ghost host toast post
fountain mountain
jelly belly
fever lever
nest guest jest quest
candle sandal handle vandal
treasure leisure
baker acre
lizard wizard blizzard
"""
