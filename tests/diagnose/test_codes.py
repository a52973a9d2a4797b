"""Every code: said of data that must trigger it, not of data that must not; and told in docs/diagnostics.md."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sklearn.datasets import make_moons

import knoll
from knoll.diagnose import CODES
from knoll.diagnose.columns import looks_like_id
from knoll.diagnose.groups import few_records
from tests.diagnose.registry import CASES

SEEDS = range(5)


def three_facts():
    return CASES["few-records"][1](0)._facts()


def codes(model):
    return [each.code for each in model.diagnostics_]


def test_every_code_has_both_kinds_of_data():
    assert set(CASES) == set(CODES)
    assert all(len(case) == 2 for case in CASES.values())


@pytest.mark.parametrize("code", CASES)
def test_said_where_it_must_be(code):
    trigger, _ = CASES[code]
    assert all(code in codes(trigger(seed)) for seed in SEEDS)


@pytest.mark.parametrize("code", CASES)
def test_not_said_where_it_must_not_be(code):
    _, harmless = CASES[code]
    assert not any(code in codes(harmless(seed)) for seed in SEEDS)


@pytest.mark.parametrize("n", [1500, 6000])
def test_bent_clusters_of_many_records_are_not_too_few_or_too_many(n):
    for seed in SEEDS:
        X, _ = make_moons(n, noise=0.1, random_state=seed)
        model = knoll.MorseClustering(2, bounds=[(-1.5, 2.5), (-1.0, 1.5)], random_state=seed).fit(X)
        assert not {"few-records", "too-many-clusters"} & set(codes(model))


def test_sizes_that_are_uncertain_for_other_reasons_ask_for_no_more_records():
    many = replace(three_facts(), records=5000.0, noise=400.0, quietest=5.0)
    assert few_records(many) is None
    assert few_records(replace(many, records=150.0)) is not None
    assert "about 200 at least" in few_records(replace(many, records=150.0)).advice


def test_the_documents_list_the_codes():
    text = (Path(__file__).parents[2] / "docs" / "diagnostics.md").read_text()
    told = dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+?) \|", text.split("## Quality")[0], re.M))
    assert told == CODES


def test_an_unknown_code_is_refused():
    with pytest.raises(ValueError, match="unknown code"):
        knoll.Diagnostic("no-such-code", "info", "", "")


IDS = [
    "uid",
    "SK_ID_CURR",
    "patient_nbr",
    "nhs_number",
    "id",
    "ID",
    "user_id",
    "userId",
    "userID",
    "customerid",
    "patient_no",
    "uuid",
    "index",
    "row_number",
    "invoice_no",
    "id_patient",
    "visit.id",
    "caseNumber",
    "account_number",
    "row",
    "subject_id_2",
    "visit_nr",
    "client_key",
]
FEATURES = [
    "age",
    "body_mass_index",
    "humid",
    "paid",
    "acid",
    "grid",
    "no",
    "x0",
    "width",
    "humid",
    "user_age",
    "identity_score",
    "num_rooms",
    "number_of_rooms",
    "price_index",
    "index_of_refraction",
    "video",
    "no2",
    "valid",
    "kids",
    "smoker_yes_no",
    "citric_acid",
    "order_value",
    "code",
]


def test_ids_are_known_by_their_names():
    assert [name for name in [*IDS, "Unnamed: 0"] if not looks_like_id(name)] == []
    assert [name for name in FEATURES if looks_like_id(name)] == []
