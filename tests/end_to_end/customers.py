"""A file of customers as companies have them, with planted segments: nothing in it is prepared for a computer."""

from pathlib import Path

import numpy as np

COLUMNS = """
Geburtsjahr = "int:1920:2010;missing=impute"
Umsatz = "log:1:1000000;missing=drop"
Tarif = "{Basis,Plus,Gold,Familie,Studierende,Altvertrag};missing=level"
Ort = "{München,Köln,Düsseldorf,Berlin,Hamburg,Görlitz,Bad Tölz}"
Newsletter = "bool;missing=level"
"Kunde seit" = "2004-01-01:2024-12-31;missing=drop"
"Käufe" = "int:0:60"
"""
HEADER = "Kunden-Nr;Name;Geburtsjahr;Umsatz;Tarif;Ort;Newsletter;Kunde seit;letzter Kauf;Käufe;Bemerkung"
PLANS = np.array(["Basis", "Plus", "Gold", "Familie", "Studierende", "Altvertrag", "Mitarbeiter"])
CITIES = np.array(["München", "Köln", "Düsseldorf", "Berlin", "Hamburg", "Görlitz", "Bad Tölz"])
NOTES = np.array(["", "k.A.", '"rief an; ""dringend"""', "n/a", "Kündigung zu 50 %", "-"])
SIZES = [0.3, 0.25, 0.2, 0.15, 0.1]
AGE, SPENT, VISITS = [24, 40, 47, 58, 72], [60, 400, 4000, 900, 120], [6, 14, 40, 24, 3]
DAYS, YES = [6600, 5200, 4000, 2500, 1100], [0.9, 0.6, 0.5, 0.3, 0.1]
HOME = ["Berlin", "München", "Düsseldorf", "Köln", "Görlitz"]
PLAN = ["Studierende", "Plus", "Gold", "Familie", "Basis"]


def write_customers(path: Path, n: int = 30_000, seed: int = 0) -> np.ndarray:
    """Write the file in Windows' encoding, semicolons and CRLF; return the segment of each line."""
    rng = np.random.default_rng(seed)
    segment = rng.choice(len(SIZES), n, p=SIZES)

    def of(values):
        return np.array(values)[segment]

    age = of(AGE) + rng.normal(0, 4, n)
    spent = of(SPENT) * np.exp(rng.normal(0, 0.45, n)) * np.where(rng.random(n) < 0.004, rng.uniform(20, 200, n), 1.0)
    plan = np.where(rng.random(n) < 0.75, of(PLAN), rng.choice(PLANS, n, p=[0.3, 0.3, 0.1, 0.1, 0.1, 0.09, 0.01]))
    city = np.where(rng.random(n) < 0.6, of(HOME), rng.choice(CITIES, n, p=[0.3, 0.2, 0.15, 0.2, 0.13, 0.01, 0.01]))
    since = np.datetime64("2004-01-01") + np.clip(of(DAYS) + rng.normal(0, 600, n), 0, 7600).astype(int)
    last = np.datetime64("2024-01-01") + rng.integers(0, 366, n)
    words = np.where(rng.random(n) < 0.9, np.where(rng.random(n) < of(YES), "ja", "nein"), "Nein")
    columns = [
        [f"K{i:07d}" for i in range(n)],
        [f'"Müller, Nr. {i}"' for i in rng.permutation(n)],
        _gaps((2024 - age).astype(int).astype(str), 0.01, rng),
        _gaps(np.array([_money(each) for each in spent]), 0.02, rng),
        _gaps(np.where(rng.random(n) < 0.05, np.char.add(np.char.add(" ", plan), "  "), plan), 0.03, rng),
        city,
        _gaps(words, 0.02, rng),
        _gaps(_day_first(since), 0.01, rng),
        _day_first(last),
        np.maximum(rng.poisson(of(VISITS)), 0).astype(str),
        rng.choice(NOTES, n),
    ]
    lines = [HEADER, *(";".join(row) for row in zip(*columns, strict=True))]
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    return segment


def _gaps(values: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    gone = rng.random(len(values)) < share
    return np.where(gone, rng.choice(["", "NA", "n/a"], len(values)), values)


def _money(amount: float) -> str:
    return f"{amount:,.2f} €".translate(str.maketrans(",.", ".,"))


def _day_first(days: np.ndarray) -> np.ndarray:
    return np.array([f"{text[8:]}.{text[5:7]}.{text[:4]}" for text in days.astype(str)])
