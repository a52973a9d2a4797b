"""Which files a path stands for: the file, the data files of a folder, or those that a pattern fits, each once.

A record that is read twice counts twice, which no sensitivity covers. So a file that is there under several names (by a
symbolic or a hard link) is taken once, and what tools leave behind is not data: hidden files and folders, such as
.ipynb_checkpoints, and those whose names begin with an underscore.
"""

from pathlib import Path

from knoll.privacy.errors import DataError

_FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".txt": "csv",
    ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc",
    ".xlsx": "sheet", ".xlsm": "sheet", ".xls": "sheet", ".ods": "sheet",
}  # fmt: skip
_PACKED = (".gz", ".bz2", ".zst")


def data_files(path: Path) -> list[Path]:
    """Return the file, or the data files of the folder or the pattern (*, ?, [...], **) in order, each once."""
    if path.is_file():
        return [path]
    if path.exists():
        root, listed = path, path.rglob("*")
    elif is_pattern(path):
        fixed = next(i for i, part in enumerate(path.parts) if is_pattern(Path(part)))
        root = Path(*path.parts[:fixed])
        listed = root.glob(str(Path(*path.parts[fixed:])))
    else:
        raise DataError(f"no such file or folder: {path}")
    found: dict[tuple[int, int], Path] = {}
    for file in sorted(listed):
        inner = file.relative_to(root).parts
        if ending(file) in _FORMATS and not any(part.startswith((".", "_")) for part in inner) and file.is_file():
            about = file.stat()
            found.setdefault((about.st_dev, about.st_ino), file)
    if not found:
        raise DataError(f"{path} holds no parquet, CSV or Arrow file")
    for beside in (".txt", "sheet"):  # beside data files, a text or a workbook is about them, more often than not
        others = {key: file for key, file in found.items() if beside not in (ending(file), _FORMATS[ending(file)])}
        found = others or found
    return list(found.values())


def is_pattern(path: Path) -> bool:
    """Whether a path has marks that stand for any text."""
    return any(mark in str(path) for mark in "*?[")


def file_kind(files: list[Path]) -> str:
    """Return the one kind of all files: parquet, csv or ipc."""
    kinds = {_FORMATS.get(ending(file)) for file in files}
    kind = kinds.pop()
    if kinds:
        raise DataError("the folder mixes kinds of files; keep parquet, CSV, Arrow and workbooks apart")
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
