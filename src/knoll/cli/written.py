"""What commands write: the model, its tables, pictures and the report. Each returns the files and what they are."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

_DPI = 130
NO_PICTURE = "No {files}: pictures need matplotlib, pip install 'knoll[plots]'. The report draws without it."


def prepare_folder(folder: Path) -> None:
    """Make sure that results can be written before any budget is spent."""
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / ".knoll-probe"
    probe.write_text("")
    probe.unlink()


def write_page(result: Any, out: Path) -> dict[Path, str]:
    """Write the report of a result beside its other files."""
    from knoll.cli.typed import command_line

    result.report(out / "report.html", command=command_line())
    return {out / "report.html": "all of it on one page, to open and to send"}


def write_pictures(result: Any, pictures: dict[Path, str], **draw: str) -> dict[Path, str]:
    """Write pictures (file -> what it shows); none, with a word about it, if matplotlib is not installed.

    `draw` names the function of knoll.plots that draws a file, by the file's name without its ending and with _ for -;
    by default the result draws itself.
    """
    try:
        for path in pictures:
            name = draw.get(path.stem.replace("-", "_"))
            figure = getattr(import_module("knoll.plots"), name)(result) if name else result.plot()
            figure.savefig(path, dpi=_DPI)
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        names = " and ".join(path.name for path in pictures)
        Console().print(NO_PICTURE.format(files=names), highlight=False, markup=False, soft_wrap=True)
        return {}
    return pictures


def write_groups(model: Any, out: Path, table: Callable[[Any, Path], None], name: str, what: str) -> dict[Path, str]:
    """Write a model of clusters or components: as JSON, its table and, if kinds were declared, its summary."""
    import knoll
    from knoll.report import write_summary

    files = {out / "model.json": "the model: knoll.load(path), knoll predict", out / name: what}
    knoll.save(model, out / "model.json")
    table(model, out / name)
    if hasattr(model, "columns_"):
        files[out / "summary.csv"] = "the same in the terms of your columns"
        write_summary(model, out / "summary.csv")
    return files
