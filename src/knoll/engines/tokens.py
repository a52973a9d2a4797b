"""Words of a text, by a public rule: each text by itself, no vocabulary, nothing learnt.

A text is cut after `LONGEST` characters, put into one form (compatibility characters, small letters), and split into
runs of letters, which may hold an apostrophe or a hyphen. Tags of HTML, names of characters such as &nbsp;, and
addresses of pages and mails are no words. Words of one letter, of more than 30, and those of a public list of common
ones are left out.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

LONGEST = 20_000
"""Characters of a text that are read."""

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_MARKUP = re.compile(r"</?[a-z!][^<>]{0,1000}>|&(?:[a-z]{2,8}|#x?[0-9a-f]{1,6});|\b(?:https?://|www\.)\S+|\S{1,64}@\S+")
_SHORTEST_WORD, _LONGEST_WORD = 2, 30


def words_of(text: str, leave_out: frozenset[str] = frozenset()) -> list[str]:
    """Return the different words of a text, in the order in which they first occur.

    >>> words_of("The card won't WORK; my card, number 4711!", stop_words())
    ['card', "won't", 'work', 'number']
    >>> words_of("<p class='x'>Refund&nbsp;please</p> ann@example.org, https://example.org/a?b=c")
    ['refund', 'please']
    """
    plain = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    found = dict.fromkeys(_WORD.findall(_MARKUP.sub(" ", plain)))
    return [w for w in found if _SHORTEST_WORD <= len(w) <= _LONGEST_WORD and w not in leave_out]


@cache
def stop_words(more: Iterable[str] = ()) -> frozenset[str]:
    """Return common English words that say nothing of a topic: scikit-learn's public list, and those given."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS) | frozenset(word.casefold() for word in more)
