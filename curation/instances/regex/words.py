"""Plain words that made-up text is put together from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final


def split(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


_NOUNS: Final = split(
    """
    account acorn agent album alley amber anchor angle apple apron archive arena arrow
    attic author autumn avenue badge bakery balance bamboo banner barrel basin basket
    battery beach beacon bell bench bicycle birch blanket blossom board border bottle
    boulder bracket branch brick bridge bronze brook brush bucket butter button cabin
    cable calendar camera campus canal candle canvas canyon capital carbon card cargo
    carpet carriage cart castle cave cedar cellar chain chair chalk chamber channel
    chapter chart cherry chimney circle citrus cliff clinic clock cloud clover coast
    cobalt coin colony column comet compass contract copper coral corner cotton couch
    counter country court cradle crane crew crop crown crystal cup curtain cushion
    customer daisy dancer dawn deck degree delta deposit desert diagram diary dinner
    doctor dolphin dome door drawer drift driver drum eagle echo editor elbow elevator
    ember engine envelope errand estate event factory falcon family farm farmer feather
    fence fern ferry fiddle field figure filter finger flag flame flint floor flower fog
    folder font forest fork form fort fossil fountain frame friend frost fruit funnel
    galaxy gallery garden garnet gate gear ginger glacier globe glove goal grain granite
    grape grass gravel grove guest guide guitar hall hammer handle harbor hat hazel
    helmet hero heron hill hinge hobby honey horizon hotel hour hut idea index inlet
    insect invoice iron island item ivory jacket jar jasmine jewel journal journey judge
    junction jungle juniper kernel kettle key kitchen kite knot label ladder lagoon lake
    lamp lane lantern lark laurel lawn layer leader lecture ledge lemon lesson letter
    lever library lid lily linen lion list loan lobby lock locker log loom lotus lumber
    machine magazine magnet manor map maple marble margin market mast mayor meadow medal
    melon member memory menu message meter mill mineral minute mirror mission model
    moment moon morning mortar mosaic motor mountain museum music napkin nectar needle
    neighbor nest network newspaper north note notebook number nurse oak oar oasis ocean
    office olive onyx orange orbit orchard otter oven owner oyster packet page paint
    pair palace palm panel paper parade parcel parent park parrot party passage patch
    path pattern payment peach pear pearl pebble pedal pen pencil pepper permit phone
    photo piano picture pier pigeon pillar pillow pilot pine pipe plan planet plant
    plate platform player plaza plow pocket poem point pollen pond pool porch port
    poster potato powder prairie price printer prism product project pump puzzle quarry
    quarter quartz question rabbit radio raft rail rain ramp range ranger rate raven
    razor reader recipe record reef region relay remedy report request result ribbon
    ridge river road robin rocket roof room root rope rose route row rug rule saddle
    sail salmon sample sand sapphire satin sauce scale scarf scene school screen screw
    script season seat section seed sensor series server shade shadow shed shell shield
    ship shirt shoe shop shore shoulder shovel sign signal silver singer sister sketch
    slate sleeve slope soap sofa soil song sound soup source spade spark spider spoon
    spring spruce square stable stage stair stamp star station statue steam step stitch
    stone storm stove straw stream street string studio sugar suit summer summit sunset
    surface swan switch symbol table tail tailor target teacher team temple tent test
    theater thistle thread thunder ticket tide tiger tile timber token tool topic torch
    tour tower town toy track tractor trade trail train tray treaty tree trunk tube
    tulip tunnel uncle union unit valley valve van vase vault vector velvet vendor verse
    vessel village violet visitor voice volume voyage wagon wall walnut warehouse water
    wave wheat wheel whistle willow window wing winter wire wood word worker workshop
    world yard year yellow zebra zinc zone
    """
)
#: Verbs of which every form follows the rule.
_VERBS: Final = split(
    """
    accept adjust admire adopt alert align allow answer appear approve arrange arrive
    assign attach attend bake blend boil borrow bounce browse burn call carve change
    charge check chew claim clean clear climb close collect color comb combine compare
    compile complete compute confirm connect consider contain cook count cover create
    cross cure cycle dance decide decorate deliver describe design detect develop
    discover display divide double download dream dress earn edit employ empty enable
    end enjoy enter escape estimate examine exchange exist expand expect explain explore
    export extend fade fasten fetch fill fix float flow fold follow gain gather generate
    glow govern greet group grow guard guess hand happen harvest heat help hike hire
    hope hunt imagine import improve include increase inform inspect install invent
    invite join jump kick land laugh launch learn lift light limit link listen load look
    maintain manage mark measure melt mend merge mix monitor mount move multiply need
    notice observe obtain offer open order organize pack pass pause perform pick place
    pour practice predict prepare present press produce promise protect provide publish
    pull push reach recover reduce reflect refresh release remain remember remove render
    repair repeat replace reply rescue reserve restore retry return reveal roast rotate
    scatter search select send separate serve settle shape share shift smile sort spell
    start stay store stretch study suggest support survey sync thank tighten touch trace
    translate travel treat trust turn update upload validate visit wait walk wander warm
    wash watch weigh welcome whisper wonder work yield
    """
)
_ADJECTIVES: Final = split(
    """
    absent active actual ample ancient annual bare basic blank bold brave brief bright
    broad calm central certain cheap civil clever cold common compact complex constant
    cool correct curious current dark dear deep dense direct distant double dry eager
    early eastern elegant entire equal even exact external faint fair false
    familiar famous fast final fine firm first fixed flat formal former free frequent
    fresh full gentle glad global golden good grand gray great green half handy happy
    hard heavy hidden high hollow honest huge humble ideal inner internal jolly just
    keen kind large last late lazy left lively local lonely long loose loud low loyal
    lucky main major mature mild minor mobile modern modest moist narrow native near
    neat new nice noble normal northern odd official old optional outer pale partial
    past patient perfect plain pleasant polite poor popular primary prime private prompt
    proper proud public pure quick quiet random rapid rare raw ready real recent regular
    remote rich right ripe rough round royal rural safe secret secure senior sharp short
    shy silent simple single slight slow small smart smooth sober soft solid southern
    spare special steady steep still strict strong sudden sunny super sweet swift tall
    tame tender thick thin tidy tight tiny total tough tropical true typical unique
    upper urban useful usual vacant valid vast vivid warm weak western wet white whole
    wide wild wise young
    """
)
#: Beginnings and ends of compound words.
_HEADS: Final = split(
    """
    air book cloud corn day ear earth fire fish foot gold hand home ice land light moon
    night rain rock sand sea silver sky snow star stone storm sun tide water wind wood
    """
)
_TAILS: Final = split(
    """
    bank bell bird board boat bridge field fish flower ground house land light mark mill
    path side stone storm way wood work
    """
)
#: Shorter adjectives have no adverb that is in use.
_SHORTEST: Final = 5


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _verb_forms(verb: str) -> Iterator[str]:
    """Yield the forms of a regular verb.

    Example:
        >>> list(_verb_forms("carry"))
        ['carry', 'carries', 'carried', 'carrying']
    """
    yield from (verb, _with_s(verb))
    past = _with_s(verb)[:-1]
    yield (past if past.endswith("e") else past + "e") + "d"
    ends_in_e = verb.endswith("e") and not verb.endswith(("ee", "oe"))
    yield (verb[:-1] if ends_in_e else verb) + "ing"


def _adverb(adjective: str) -> str:
    if adjective.endswith("le"):
        return adjective[:-1] + "y"
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective + ("ally" if adjective.endswith("ic") else "ly")


def _words() -> Iterator[str]:
    for noun in _NOUNS:
        yield from (noun, _with_s(noun))
    for verb in _VERBS:
        yield from _verb_forms(verb)
    for adjective in _ADJECTIVES:
        yield adjective
        if len(adjective) >= _SHORTEST:
            yield _adverb(adjective)
    for head in _HEADS:
        yield from (head + tail for tail in _TAILS if tail != head)


#: Some three thousand, each once.
WORDS: Final = tuple(dict.fromkeys(_words()))
#: Words with letters beyond ASCII, for free text.
ACCENTED: Final = split(
    "café naïve jalapeño Zürich façade smörgåsbord crème über señor Ångström déjà "
    "piñata coöperate kůň łódź çay žába naïveté fjörður"
)
#: Texts in other scripts, all of them inside the basic plane.
SCRIPTS: Final = (
    *("Ελλάδα", "Москва", "東京タワー", "서울", "日本語", "नमस्ते", "한국어", "שלום"),
    *(
        "مرحبا",
        "ภาษาไทย",
        "Հայաստան",
        "ქართული",
        "Київ",
        "北京",
        "한글 문장",
        "ελιά και ψωμί",
    ),
)
#: Characters beyond the basic plane: pairs of surrogates in UTF-16.
ASTRAL: Final = (
    *("\U0001f600", "\U0001f680", "\U0001d54f", "\U00020bb7", "\U0001f9ed"),
    *("\U0001f469\u200d\U0001f52c", "\U0001f1f3\U0001f1f4", "\U0001f44d\U0001f3fd"),
)
#: Texts that JSON writes with escapes.
ESCAPED: Final = (
    'the "old" mill',
    "C:\\meadow\\river",
    "first line\nsecond line",
    "left\tright",
    '{"a": [1, 2]}',
    '\\d+\\."',
    "bell \u0007 and \u001f",
    "line\r\nline\r\n",
    "\\\\host\\share",
    '"',
    "</script>",
    "\u2028 and \u00a0",
)
