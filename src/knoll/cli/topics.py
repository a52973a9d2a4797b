"""knoll topics: a private map of the topics of texts."""

from pathlib import Path
from typing import Annotated, Any

import typer

from knoll.cli.common import Data, FitOptions, fit_and_write, with_fit_options
from knoll.cli.printed import console, print_table
from knoll.cli.written import write_pictures


@with_fit_options
def topics(
    data: Data,
    text: Annotated[str, typer.Option("--text", help="The column of texts.")],
    k: Annotated[int | None, typer.Option("--k", help="Number of topics; 0 has it chosen.")] = 20,
    words: Annotated[int, typer.Option(help="Words that one user (or row) adds at most.")] = 10,
    vocabulary: Annotated[
        Path | None, typer.Option(help="A file of public words, one to a line, among which keywords are looked for.")
    ] = None,
    stop_words: Annotated[
        Path | None, typer.Option(help="A file of words to leave out, beside common English ones: of other languages.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="A sentence-transformers model on this machine; by default words are hashed.")
    ] = None,
    groups: Annotated[int | None, typer.Option(help="Groups into which topics are joined.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for model.json, topics.csv, keywords.csv, topics.png.")] = Path(
        "out"
    ),
    *,
    options: FitOptions,
) -> None:
    """Find the topics of texts, their sizes and their words, without showing any text or any rare word.

    Example: knoll topics texts.csv --text message --user customer --cap 2 --k 20 --out out/
    """
    import knoll

    def make() -> Any:
        given = {name: value for name, value in options.parameters().items() if name != "bounds"}
        listed, left = (None if each is None else _words_in(each) for each in (vocabulary, stop_words))
        return knoll.TopicMap(
            k or None, text=text, encoder=encoder, vocabulary=listed, stop_words=left, words_per_unit=words,
            n_groups=groups, **given,
        )  # fmt: skip

    fit_and_write(make, data, options, out, _write, _show)


def _words_in(file: Path) -> list[str]:
    """Return the words of a file, whatever stands between them."""
    return file.read_text(encoding="utf-8-sig").split()


def _show(model: Any) -> None:
    from knoll.report.topics import topics_table

    print_table("Topics, largest first", *topics_table(model), "topics.csv")
    console.print(
        f"{len(model.words_):,} words were released. Keywords are used in their topic more than twice as often as "
        "elsewhere.",
        highlight=False,
    )


def _write(model: Any, out: Path) -> dict[Path, str]:
    import knoll
    from knoll.report import write_summary
    from knoll.report.topics import write_keywords

    knoll.save(model, out / "model.json")
    write_summary(model, out / "topics.csv")
    write_keywords(model, out / "keywords.csv")
    files = {
        out / "model.json": "the topics: knoll.load(path)",
        out / "topics.csv": "a row for each topic: group, size, words",
        out / "keywords.csv": "the words of each topic, with lift, count and errors",
    }
    return files | write_pictures(model, {out / "topics.png": "a picture of them"})
