#!/usr/bin/env python3
"""Writes Sources/QueryEvaluation/Text/TextFoldingData.swift from Python's Unicode Character Database.

Run it with a Python whose `unicodedata.unidata_version` is the one wanted. Whoever changes what it writes must raise
VERSION: stores then rebuild what they derived from folded text.
"""

import re
import sys
import unicodedata
from pathlib import Path

VERSION = 1

# What has no visible form of its own: Default_Ignorable_Code_Point.
IGNORABLE = [
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]

# Where combining marks are accents, points and signs that writers leave out. Marks elsewhere are vowels, tones and
# the like, which make other words, and stay: those of the Indic and South-East Asian scripts, Thaana, N'Ko, and the
# marks of voice in Kana.
STRIPPED_MARKS = [
    (0x0300, 0x036F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F),  # for many scripts
    (0x0483, 0x0489), (0x2DE0, 0x2DFF), (0xA66F, 0xA67D), (0xA69E, 0xA69F),  # Cyrillic
    (0x2CEF, 0x2CF1), (0x1E000, 0x1E02A),  # Coptic, Glagolitic
    (0x0591, 0x05C7), (0xFB1E, 0xFB1E), (0x0700, 0x074F), (0x0800, 0x085F),  # Hebrew; Syriac; Samaritan and Mandaic
    (0x0610, 0x061A), (0x064B, 0x065F), (0x0670, 0x0670), (0x06D6, 0x06ED), (0x0898, 0x08FF),  # Arabic
    (0x135D, 0x135F),  # Ethiopic
    (0x302A, 0x302F),  # tone marks beside ideographs and Hangul
    (0x093C, 0x093C),  # the nukta of Devanagari, which Hindi writers leave out often
]

# Letters that Unicode does not decompose. Those named LATIN SMALL LETTER X WITH Y fold to X by rule.
LETTERS = {
    "ı": "i", "ȷ": "j",
    # As in the default collation table (DUCET): the same letters but for accents.
    "æ": "ae", "œ": "oe", "ð": "d",
    # As in CLDR's transliteration Latin-ASCII.
    "þ": "th", "ŋ": "n", "ĸ": "q",
    # Arabic: the forms that keyboards and habits interchange.
    "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ہ": "ه", "\u0640": "",
    # Hebrew: final forms, as sigma has one.
    "ך": "כ", "ם": "מ", "ן": "נ", "ף": "פ", "ץ": "צ",
    # Marks of punctuation that keyboards and typography interchange.
    "\u2018": "'", "\u2019": "'", "\u201B": "'", "\u02BB": "'", "\u02BC": "'", "\u2032": "'", "\u05F3": "'",
    "\u201C": '"', "\u201D": '"', "\u201E": '"', "\u201F": '"', "\u05F4": '"',
    "\u2010": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", "\u2212": "-",
}

# A base and a mark that are a letter of their own, as in DUCET: the one such pair of the scripts above.
PAIRS = {("и", "\u0306"): "й"}

# Scripts that are written without spaces between words.
UNSPACED = [
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF),  # South-East Asia
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C),  # Han signs
    (0x3041, 0x30FF), (0x3100, 0x312F), (0x31A0, 0x31FF),  # Kana, Bopomofo
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),  # Han
    (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0x1AFF0, 0x1AFFF), (0x1B000, 0x1B16F),  # Myanmar, Kana
]


def within(scalar, ranges):
    return any(first <= scalar <= last for first, last in ranges)


def is_hangul(scalar):
    return 0xAC00 <= scalar <= 0xD7A3


def is_stripped(character):
    scalar = ord(character)
    if within(scalar, IGNORABLE):
        return True
    return unicodedata.category(character).startswith("M") and within(scalar, STRIPPED_MARKS)


def letter(character):
    if character in LETTERS:
        return LETTERS[character]
    digit = unicodedata.digit(character, None)
    if digit is not None and unicodedata.category(character) == "Nd":
        return str(digit)
    match = re.fullmatch(r"LATIN SMALL LETTER ([A-Z]) WITH .*", unicodedata.name(character, ""))
    return match.group(1).lower() if match else character


def decomposed(text):
    """The compatibility decomposition, with syllables of Hangul left whole."""
    return "".join(c if is_hangul(ord(c)) else unicodedata.normalize("NFKD", c) for c in text)


def folded(text):
    while True:
        result = []
        for character in decomposed(text):
            if result and (result[-1], character) in PAIRS:
                result[-1] = PAIRS[(result[-1], character)]
            elif character in PAIRS.values() or is_hangul(ord(character)):
                result.append(character)
            elif not is_stripped(character):
                result.extend("".join(letter(c) for c in character.casefold()))
        result = "".join(result)
        # A pair would come apart in the next round.
        if result == text or any(c in PAIRS.values() for c in result):
            return result
        text = result


def all_scalars():
    return (s for s in range(sys.maxunicode + 1) if not 0xD800 <= s <= 0xDFFF)


def mapping_tokens():
    """`first[,count[,step]]>target` for scalars and targets that rise together, `first[,count]=targets` else."""
    entries = [(s, folded(chr(s))) for s in all_scalars() if folded(chr(s)) != chr(s)]
    tokens, index = [], 0
    while index < len(entries):
        scalar, target = entries[index]
        best, form = 1, "="
        same = 1
        while index + same < len(entries) and entries[index + same] == (scalar + same, target):
            same += 1
        if same > best:
            best, form = same, "="
        if len(target) == 1:
            for step in (1, 2):
                rising = 1
                while index + rising < len(entries) and entries[index + rising] == (
                    scalar + rising * step, chr(ord(target) + rising * step)):
                    rising += 1
                if rising > best:
                    best, form = rising, f">{step}"
        head = f"{scalar:X}"
        if form == "=":
            head += f",{best:X}" if best > 1 else ""
            tokens.append(head + "=" + "+".join(f"{ord(c):X}" for c in target))
        else:
            step = form[1:]
            head += f",{best:X}" + (f",{step}" if step != "1" else "")
            tokens.append(f"{head}>{ord(target):X}")
        index += best
    return tokens, len(entries)


def ranges(values):
    """`first[,count]=value` for runs of one value; scalars with the value None are left out."""
    tokens, start, current = [], 0, None
    previous = -1
    for scalar, value in values:
        if value != current or scalar != previous + 1:
            if current is not None:
                count = previous - start + 1
                tokens.append(f"{start:X}" + (f",{count:X}" if count > 1 else "") + f"={current:X}")
            start, current = scalar, value
        previous = scalar
    if current is not None:
        count = previous - start + 1
        tokens.append(f"{start:X}" + (f",{count:X}" if count > 1 else "") + f"={current:X}")
    return tokens


def word_class(scalar):
    """0 between words, 1 part of a word, 2 part of a text without spaces. What is not assigned yet counts as letter."""
    category = unicodedata.category(chr(scalar))
    if category[0] in "PSZ" or category in ("Cc", "Cf", "Cs"):
        return 0
    return 2 if within(scalar, UNSPACED) else 1


def kept_order(scalar):
    character = chr(scalar)
    order = unicodedata.combining(character)
    return order if order and not is_stripped(character) else None


def swift(name, comment, tokens):
    lines, line = [], ""
    for token in tokens:
        if len(line) + len(token) + 1 > 112:
            lines.append(line)
            line = ""
        line += (" " if line else "") + token
    lines.append(line)
    body = "\n".join("        " + text for text in lines)
    return f'    /// {comment}\n    static let {name} = """\n{body}\n        """\n'


def main():
    mappings, count = mapping_tokens()
    words = ranges((s, word_class(s) if word_class(s) != 1 else None) for s in all_scalars())
    orders = ranges((s, kept_order(s)) for s in all_scalars())
    target = Path(__file__).parent.parent / "Sources/QueryEvaluation/Text/TextFoldingData.swift"
    text = f'''// Written by Scripts/generate-text-folding.py; change that instead.

/// What text folding and its words go by, from the Unicode Character Database.
enum TextFoldingData {{
    static let version = {VERSION}
    static let unicodeVersion = "{unicodedata.unidata_version}"

{swift("mappings", "`first[,count]=targets`, the same for all, or `first[,count[,step]]>target`, rising with the scalars.", mappings)}
{swift("orders", "`first[,count]=class`: the canonical combining classes of the marks that stay.", orders)}
{swift("wordClasses", "`first[,count]=class`: 0 between words, 2 in scripts without spaces between words; else 1.", words)}}}
'''
    target.write_text(text)
    print(f"{count} scalars in {len(mappings)} tokens, {len(words)} word classes, {len(orders)} orders, {len(text)} bytes")


main()
