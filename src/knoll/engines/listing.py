"""Which files a path stands for: the file, or the data files of a folder, each once.

A record that is read twice counts twice, which no sensitivity covers. So a file that is there under several names (by a
symbolic or a hard link) is taken once, and what tools leave behind is not data: hidden files and folders, such as
.ipynb_checkpoints, and those whose names begin with an underscore.
"""

from pathlib import Path

from knoll.privacy.errors import DataError

_FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv",
    ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc",
}  # fmt: skip
_PACKED = (".gz", ".bz2", ".zst")


def data_files(path: Path) -> list[Path]:
    """Return the file, or the data files of the folder in order, each once."""
    if not path.exists():
        raise DataError(f"no such file or folder: {path}")
    if path.is_file():
        return [path]
    found: dict[tuple[int, int], Path] = {}
    for file in sorted(path.rglob("*")):
        inner = file.relative_to(path).parts
        if ending(file) in _FORMATS and not any(part.startswith((".", "_")) for part in inner) and file.is_file():
            about = file.stat()
            found.setdefault((about.st_dev, about.st_ino), file)
    if not found:
        raise DataError(f"{path} holds no parquet, CSV or Arrow file")
    return list(found.values())


def file_kind(files: list[Path]) -> str:
    """Return the one kind of all files: parquet, csv or ipc."""
    kinds = {_FORMATS.get(ending(file)) for file in files}
    kind = kinds.pop()
    if kinds:
        raise DataError("the folder mixes kinds of files; keep parquet, CSV and Arrow apart")
    if kind is None:
        known = ", ".join(sorted(_FORMATS))
        raise DataError(f"{files[0].name}: the kind of file is told by its ending, one of {known}")
    return kind


def ending(path: Path) -> str:
    """Return the ending that tells a file's kind, in small letters, without that of its compression."""
    name = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return name.suffix.lower()


def base_name(path: Path) -> str:
    """Return a file's or folder's name without the endings that tell its kind.

    >>> base_name(Path("data/Visits.CSV.gz")), base_name(Path("visits.parquet")), base_name(Path("visits.2024"))
    ('Visits', 'visits', 'visits.2024')
    """
    name = path.resolve()
    while name.suffix.lower() in (*_PACKED, *_FORMATS):
        name = name.with_suffix("")
    return name.name
