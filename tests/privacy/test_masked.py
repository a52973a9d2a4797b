"""Messages and the command that a report shows hold no credentials, whatever they quote."""

import pytest

import knoll
from knoll.cli.typed import command_line
from knoll.privacy.errors import BoundsError, DataError, LedgerError, PrivacyError, brief, masked

URIS = [
    "postgresql://ann:hunter2@host/clinic",
    "postgresql://ann:hun/ter2@host/clinic",
    "postgresql://ann:a@hunter2@host/clinic",
    "postgresql:///clinic?user=ann&password=hunter2",
    "postgresql:/ann:hunter2@host/clinic",  # a path has lost a slash
    "sc://host:443/;token=hunter2",
    "tls://hunter2@scheduler:8786",
]


@pytest.mark.parametrize("uri", URIS)
def test_a_uri_in_a_message(uri):
    for error in (DataError, BoundsError, LedgerError, PrivacyError):
        assert "ter2" not in str(error(f"cannot read {uri}, or {uri!r}"))
    assert "ter2" not in brief(uri)
    assert "ter2" not in brief(uri.replace("hunter2", "hunter2" * 40))
    assert "ter2" not in brief([uri])


@pytest.mark.parametrize("uri", [*URIS[:4], "postgresql://ann:a 'hunter2\"@host/clinic"])
def test_the_command_of_a_report(uri, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/usr/bin/knoll", "cluster", uri, "--table", "visits"])
    shown = command_line()
    assert "ter2" not in shown
    assert shown.startswith("knoll cluster ")
    assert shown.endswith(" --table visits")


def test_other_texts_stay_as_they_are():
    for text in ("no such file: C:/data/x.csv", "a@b and 3:4", "see https://example.org/a", "/home/ann@lab/x.csv"):
        assert masked(text) == text
    with pytest.raises(DataError, match="no such file or folder: /nowhere/ann@lab"):
        knoll.KMeans(2, bounds=(0, 1)).fit("/nowhere/ann@lab")
