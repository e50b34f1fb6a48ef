"""Words beside a weapon that are written much like the name of a finish: `five-seven violet dynamo`. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from operator import itemgetter

from api.search.parsing.parse import ParsedQuery, PlatformParse, Relaxation, finishes_of, parsed_again
from api.search.parsing.words import Term, is_word
from api.search.relaxation.fillers import with_and_without_fillers
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of

MAX_UNKNOWN = 4  # words of a text, for each run of words costs 0.3 ms
MAX_WORDS = 4  # of a name
MAX_NAMES = 8  # that are searched for


def similar_names(strict: ParsedQuery) -> list[ParsedQuery]:
    """The text with a finish in place of words that are written much like it, the most similar first.

    One of the words at least is unknown, and no others among them are a finish (`redline qqqqq`). The text names a
    weapon: beside it few names are similar by chance.
    """
    if len(strict.parses) != 1:
        return []
    (parse,) = strict.parses
    vocabulary = parse.platform.merged_vocabulary
    unknown = {at for at, term in enumerate(parse.terms) if _is_unknown(term, vocabulary)}
    if len(unknown) > MAX_UNKNOWN or not any("weapon" in term.fields for term in parse.terms):
        return []
    letters = {run: letters_of([word.typed for at in run for word in parse.terms[at].words]) for run in _runs(parse)}
    finishes = [run for run in letters if unknown.isdisjoint(run) and letters[run] in vocabulary.finishes]
    similar = [
        (similarity, run, name)
        for run in letters
        if not unknown.isdisjoint(run) and not any(set(run).issuperset(finish) for finish in finishes)
        for name, similarity in vocabulary.similar_names.nearest(letters[run]).items()
    ]
    run_of: dict[str, range] = {}
    for _, run, name in sorted(similar, key=itemgetter(0), reverse=True):
        run_of.setdefault(name, run)
    relaxed = [_with_name(strict, run, name) for name, run in islice(run_of.items(), MAX_NAMES)]
    both = [each for parsed in relaxed for each in with_and_without_fillers(parsed)]
    return [replace(each, relaxation=Relaxation.SIMILAR_NAMES) for each in both]


def _is_unknown(term: Term, vocabulary: Vocabulary) -> bool:
    letters = letters_of([term.typed])
    is_known = term.is_filler or vocabulary.is_known(letters) or letters in vocabulary.words_of_finishes
    return is_word(term) and not is_known


def _runs(parse: PlatformParse) -> Iterator[range]:
    """The runs of terms that may be one name."""
    for start in range(len(parse.terms)):
        for stop in range(start + 1, min(start + MAX_WORDS, len(parse.terms)) + 1):
            if not _may_be_of_name(parse.terms[stop - 1]):
                break
            yield range(start, stop)


def _may_be_of_name(term: Term) -> bool:
    has_filters = any(meaning.filters for meaning in term.meanings)
    is_alphabetic = all(word.typed.isalpha() for word in term.words)
    return is_alphabetic and not term.is_negation and (term.is_color or not has_filters)


def _with_name(strict: ParsedQuery, run: range, name: str) -> ParsedQuery:
    (parse,), (named,) = strict.parses, parsed_again(strict, name).parses
    terms = (*parse.terms[: run.start], *named.terms, *parse.terms[run.stop :])
    is_ordered = bool(strict.has_order or parse.sort)
    finishes = finishes_of(terms, parse.platform.merged_vocabulary, is_ordered=is_ordered)
    return replace(strict, parses=(replace(parse, terms=terms, finishes=finishes),))
