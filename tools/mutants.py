"""Mutants: take one protection out of the code at a time, and see that a test notices.

The source is copied, one protection is removed from the copy, and the tests that should notice run against it. A mutant
that survives is a protection that nothing watches over.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tools.output import write

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Mutant:
    """A protection, and the code without it."""

    protection: str
    file: str
    code: str
    without: str
    tests: str
    only: str = ""


QUERIES, ESTIMATORS = "tests/contract/test_queries.py", "tests/contract/test_estimators.py"
CURATOR, LEDGER = "tests/privacy/test_curator.py", "tests/privacy/test_ledger.py"
PARTS = "tests/privacy/test_parts.py"
AUDIT, ROUNDING = "tests/audit/test_audit.py", "tests/audit/test_quantisation.py"
FAULTS, NOISE = "tests/end_to_end/test_faults.py", "tests/statistical/test_noise.py"
SEARCH, DOMAINS = "tests/contract/test_search.py", "tests/queries/test_domain.py tests/queries/test_nearest.py"
STATE, PIPELINES = "tests/audit/test_whole_state.py", "tests/audit/test_pipelines.py"
RELEASES = "tests/audit/test_releases.py"
CLIENTS, LOCAL = "tests/local/test_clients.py", "tests/contract/test_local.py"
HOSTILE = "tests/fuzz/test_hostile_json.py"
DOOR, LOG = "tests/privacy/test_door.py", "tests/privacy/test_log.py"
READING, FILES = "tests/contract/test_reading.py", "tests/engines/test_files.py"

MUTANTS = [
    Mutant(
        "the clip to the box",
        "compiled/grid.py",
        "            value = limit[j] if value > limit[j] else value\n",
        "",
        QUERIES,
        "tight and moments",
    ),
    Mutant(
        "the clip to a constant column",
        "queries/domain.py",
        "Grid(self.centre, self.extent, self.steps)",
        "Grid(self.centre, self.half, self.steps)",
        QUERIES,
        "tight and constant",
    ),
    Mutant(
        "the clip to a constant column where distances are taken",
        "queries/nearest.py",
        "domain.extent if isinstance(domain, Box) else domain.half",
        "domain.half",
        "tests/contract/test_constant_column.py",
        "one_point",
    ),
    Mutant(
        "the clip to the ball",
        "compiled/grid.py",
        "        if float(square) > radius * radius:",
        "        if False:",
        QUERIES,
        "tight and ball",
    ),
    Mutant(
        "rounding towards zero in the ball",
        "compiled/grid.py",
        "np.trunc(grid[i, j] * shorter)",
        "np.sign(grid[i, j]) * np.ceil(abs(grid[i, j] * shorter))",
        QUERIES,
        "tight and ball",
    ),
    Mutant(
        "the quantisation term of squares",
        "queries/shapes.py",
        "(within + b * d ** (1 / norm) / SHAPE_UNIT)",
        "within",
        ROUNDING,
    ),
    Mutant(
        "replace_one costs the largest difference",
        "queries/query.py",
        "            worst = max(worst, self.max_difference(norm))",
        "            pass",
        QUERIES,
        "tight and votes",
    ),
    Mutant(
        "a record outside of many columns casts parts of votes",
        "queries/outside.py",
        "part = self.parts[number[rows] - 1]",
        "part = self.parts[0 * number[rows]]",
        QUERIES,
        "tight and outside",
    ),
    Mutant(
        "a record with a NaN adds nothing",
        "compiled/grid.py",
        "        kept += whole",
        "        kept += 1",
        QUERIES,
        "empty_and_single or padding",
    ),
    Mutant(
        "grid points of one projection are not taken for another's",
        "queries/grid.py",
        "        if self.domain is not domain:",
        "        if False:",
        "tests/engines/test_points.py",
    ),
    Mutant(
        "grid points of rows are forgotten when gaps are filled otherwise",
        "engines/engine.py",
        "        self._fills, self._points = np.where(self._imputed, fills, np.nan), None",
        "        self._fills = np.where(self._imputed, fills, np.nan)",
        "tests/engines/test_points.py",
    ),
    Mutant(
        "the ledger is written before the noise",
        "privacy/curator.py",
        "            self._record(entry)\n        return self._noisy(query, total, entry, source)\n",
        "            noisy = self._noisy(query, total, entry, source)\n"
        "            self._record(entry)\n        return noisy\n",
        FAULTS,
        "killed_at_the_draw",
    ),
    Mutant(
        "noise on empty cells",
        "privacy/sources.py",
        "        return total + law.draw(scale, total.size, self.words).reshape(total.shape)",
        "        return total + (total != 0) * law.draw(scale, total.size, self.words).reshape(total.shape)",
        AUDIT,
        "gives_nothing_away",
    ),
    Mutant(
        "the recheck after the fit",
        "privacy/curator.py",
        "spent = recheck(self._budget, self._entries)",
        "from knoll.privacy.released import compose as c; spent = c(self._entries)",
        FAULTS,
        "statement_is_refused",
    ),
    Mutant(
        "the whole of the noise",
        "privacy/curator.py",
        "return sensitivity, sensitivity / self._budget.ratio(",
        "return sensitivity, 0.7 * sensitivity / self._budget.ratio(",
        AUDIT,
        "plain_release or joint_release",
    ),
    Mutant("the shape of the noise", "privacy/noise.py", "    rate = 0.5 / fine**2", "    rate = 0.7 / fine**2", NOISE),
    Mutant(
        "a fresh key for every draw", "privacy/entropy.py", 'int.from_bytes(os.urandom(16), "little")', "4711", ROUNDING
    ),
    Mutant(
        "the shares' limit",
        "privacy/curator.py",
        "share]) > 1.0 + ROUNDING:",
        "share]) > 3.0:",
        CURATOR,
        "beyond_the_budget",
    ),
    Mutant(
        "the cap per user counts",
        "privacy/curator.py",
        "sensitivity = cap * query",
        "sensitivity = query",
        CURATOR,
        "users_scale",
    ),
    Mutant(
        "each part of the records answers once",
        "privacy/parts.py",
        "            if self._used == self._number:",
        "            if False:",
        PARTS,
        "answers_once",
    ),
    Mutant(
        "a replaced record touches two parts",
        "privacy/parts.py",
        "        if relation is not Relation.REPLACE_ONE:",
        "        if True:",
        PARTS,
        "together",
    ),
    Mutant(
        "the cap of a dataset",
        "privacy/ledger.py",
        "    if cap is None:\n        return\n",
        "    return\n",
        LEDGER,
        "cap and not processes",
    ),
    Mutant(
        "the seals of the ledger",
        "privacy/log.py",
        " or seal != _seal(self._last, at, kind, body)",
        "",
        FAULTS,
        "changed_or_lost",
    ),
    Mutant(
        "the price of the sampler",
        "privacy/curator.py",
        "law.cost(ratio) + law.charge(",
        "law.cost(ratio) or law.charge(",
        ESTIMATORS,
        "price_of_the_sampler and Lloyd",
    ),
    Mutant(
        "the rounding of tables of cosines",
        "queries/fourier.py",
        "least = float(kernel.min()) - rounding",
        "least = float(kernel.min())",
        ROUNDING,
    ),
    Mutant(
        "a coarser grid for many centres in many columns",
        "queries/nearest.py",
        "        while UNIT / 2**self._coarse > limit:",
        "        while False:",
        DOMAINS,
    ),
    Mutant(
        "the clip of whitened steps",
        "queries/kernel_steps.py",
        "clip_to_ball(np.rint(whitened), _UNIT).sum(axis=0)",
        "np.rint(whitened).sum(axis=0)",
        ROUNDING,
    ),
    Mutant(
        "the quantisation term of the scatter matrix",
        "queries/shapes.py",
        "(2.0**0.5 + self.frame.n_columns / SHAPE_UNIT)",
        "2.0**0.5",
        SEARCH,
        "scatter",
    ),
    Mutant(
        "the worst pair within one cell, in many columns",
        "queries/shapes.py",
        "            c = 4 * b / (d**0.5 + (d + 32 * b**2) ** 0.5)\n",
        "            c = 0.0\n",
        SEARCH,
        "shapes",
    ),
    Mutant(
        "the clip of whitened displacements",
        "queries/components.py",
        "        if outside.size:\n            factor",
        "        if False:\n            factor",
        QUERIES,
        "tight and components",
    ),
    Mutant(
        "responsibilities add up to one",
        "queries/components.py",
        "    np.cumsum(parts, axis=0, out=parts)\n"
        "    total = parts[-1].copy()\n"
        "    parts *= unit\n"
        "    parts /= total\n"
        "    np.rint(parts, out=parts)\n"
        "    parts[1:] -= parts[:-1].copy()\n"
        "    return parts",
        "    return np.rint(parts * unit / parts.sum(axis=0))",
        ROUNDING,
    ),
    Mutant(
        "phases are exact",
        "queries/fourier.py",
        "max(initial=0) * UNIT >= 2**52:",
        "max(initial=0) * UNIT >= 2**90:",
        DOMAINS,
        "not_finite",
    ),
    Mutant(
        "a query's parameters are finite",
        "queries/query.py",
        "        if not np.isfinite(each).all() or",
        "        if",
        DOMAINS,
        "not_finite",
    ),
    Mutant(
        "bounds that can be squared",
        "queries/domain.py",
        "LARGEST_BOUND, SMALLEST_HALF = 1e30, 1e-30",
        "LARGEST_BOUND, SMALLEST_HALF = 1e100, 1e-100",
        DOMAINS,
        "squares",
    ),
    Mutant(
        "an audit compares the whole state",
        "audit/published.py",
        "    shown = {name: tree(result)}",
        "    shown = {name: tree(None)}",
        STATE,
        "broken_estimator and private",
    ),
    Mutant(
        "an audit compares what a model says",
        "audit/published.py",
        "    return found or [what for what in said if one[what].digest != other[what].digest]",
        "    return found",
        STATE,
        "broken_estimator and said",
    ),
    Mutant(
        "an audit looks into closures",
        "audit/state.py",
        "        return cell.cell_contents",
        "        return None",
        STATE,
        "broken_estimator and closure",
    ),
    Mutant(
        "an audit compares the exact cost with what is declared",
        "audit/verdict.py",
        "max(self.epsilon, self.most_used) <= self.guarantee.epsilon",
        "self.epsilon <= self.guarantee.epsilon",
        PIPELINES,
        "publishes_no_score",
    ),
    Mutant(
        "an audit watches all threads of a search",
        "audit/nested.py",
        '_SAME = {"n_jobs": None, ',
        "_SAME = {",
        PIPELINES,
        "nested_deeply",
    ),
    Mutant(
        "a mixture asks no more steps than its table says",
        "mixture/central.py",
        "\nSTEPS = 4\n",
        "\nSTEPS = 5\n",
        RELEASES,
        "follow_the_table and GaussianMixture and not EM",
    ),
    Mutant(
        "modes ask for no count that the table does not know",
        "modes/mode_clustering.py",
        "            found = search._search(context, None, rng)",
        "            context.grant.part(COUNT_SHARE).release(Count())\n"
        "            found = search._search(context, None, rng)",
        RELEASES,
        "follow_the_table and ModeClustering",
    ),
    Mutant(
        "clusters of any shape ask a grid in up to two columns",
        "cluster/morse.py",
        "if self.base is None and d <= MOST_COLUMNS:",
        "if self.base is None and d < MOST_COLUMNS:",
        RELEASES,
        "follow_the_table and MorseClustering",
    ),
    Mutant(
        "a clusterer's mixture says that its centres are taken as public",
        "cluster/centers.py",
        'public=("the parameters", "the centres")',
        'public=("the parameters",)',
        RELEASES,
        "mixtures_of_clusterers",
    ),
    Mutant(
        "the exact check of a client's law",
        "local/law.py",
        "max(ratio, 1 / ratio) > exp_below(epsilon)",
        "False",
        CLIENTS,
        "one_word or wrong_way",
    ),
    Mutant(
        "e^epsilon from below",
        "local/law.py",
        "    return Fraction(total, 1 << _BITS)",
        "    return Fraction(total + (total >> 60), 1 << _BITS)",
        CLIENTS,
        "below_it or one_word",
    ),
    Mutant(
        "the range of a square wave's reach",
        "local/clients.py",
        'whole("reach", self.reach, 0, known["n_bins"])',
        "self.reach",
        CLIENTS,
        "every_field",
    ),
    Mutant(
        "whole numbers of a client are whole",
        "local/fields.py",
        "    if type(value) is not int or not least <= value <= most:",
        "    if not least <= value <= most:",
        CLIENTS,
        "every_field",
    ),
    Mutant(
        "the cost of a noisy record from a document",
        "local/clients.py",
        "        if not self.cost.epsilon_at(self.delta) <= self.epsilon:",
        "        if False:",
        CLIENTS,
        "noisy_record_from_a_document",
    ),
    Mutant(
        "an unpickled client is checked",
        "local/client.py",
        "    def __reduce__(self)",
        "    def _reduce(self)",
        CLIENTS,
        "every_field or copies",
    ),
    Mutant(
        "the limit of a report's numbers",
        "local/reports.py",
        "all(least <= number <= most for number in numbers)",
        "all(number <= most for number in numbers)",
        LOCAL,
        "hostile_reports or farthest",
    ),
    Mutant(
        "a report has one axis",
        "local/reports.py",
        'entry.ndim != 1 or entry.dtype.kind not in "iu"',
        'entry.dtype.kind not in "iu"',
        LOCAL,
        "hostile_reports",
    ),
    Mutant(
        "lines of reports are read in pieces",
        "cli/local.py",
        "        while line := file.readline(_LARGEST):",
        "        while line := file.readline():",
        HOSTILE,
        "line_without_end",
    ),
    Mutant(
        "the parts of a model fit together",
        "model.py",
        "lengths.setdefault(axis, n) != n for",
        "lengths.setdefault(axis, n) != n and False for",
        HOSTILE,
        "no_fit_gives",
    ),
    Mutant("the parameters of a model", "model.py", "    _check(model)\n", "", HOSTILE, "no_fit_gives"),
    Mutant(
        "a key is in a document once",
        "document.py",
        "    if len(known) < len(pairs):",
        "    if False:",
        HOSTILE,
        "in_one_line",
    ),
    Mutant(
        "the ledger's seals are a chain",
        "privacy/log.py",
        "repr((before, number, kind, body))",
        'repr(("", number, kind, body))',
        LOG,
        "seal_of_its_own",
    ),
    Mutant(
        "the ledger's head",
        "privacy/log.py",
        " and head == [(1, self._number, self._last)]",
        "",
        LOG,
        "deleted or cut_off",
    ),
    Mutant(
        "the ledger's witness",
        "privacy/log.py",
        "        if number and self._seal_of(number) != seal:",
        "        if False:",
        LOG,
        "backup or sealed_anew or cut_off",
    ),
    Mutant("keys of 16 bytes", "privacy/entropy.py", "os.urandom(16)", "os.urandom(4)", DOOR, "fresh_bits"),
    Mutant(
        "the sampler's price counts a user's records",
        "privacy/curator.py",
        "min(touched * self._unit.cap * (2 if",
        "min(touched * (2 if",
        DOOR,
        "charge_counts",
    ),
    Mutant(
        "the sampler's price counts both records of a replacement",
        "privacy/curator.py",
        "self._unit.cap * (2 if self._relation is Relation.REPLACE_ONE else 1), 2 * size)",
        "self._unit.cap, 2 * size)",
        DOOR,
        "charge_counts",
    ),
    Mutant(
        "the sampler's price counts every part",
        "privacy/curator.py",
        "law.charge(parts * self._moved(",
        "law.charge(self._moved(",
        DOOR,
        "charge_counts",
    ),
    Mutant(
        "the check before a release",
        "privacy/curator.py",
        "        if compose((*self._granted, entry)).epsilon_at(self._budget.delta) > self._budget.epsilon:",
        "        if False:",
        DOOR,
        "precision_cannot_be_paid",
    ),
    Mutant(
        "the whole fit is planned before it begins",
        "privacy/curator.py",
        "            if (whole + charge).epsilon_at(self._budget.delta) > self._budget.epsilon:",
        "            if False:",
        DOOR,
        "half_way",
    ),
    Mutant(
        "what is granted is reserved",
        "privacy/curator.py",
        "        return (*self._entries, *self._pending)",
        "        return self._entries",
        DOOR,
        "whole_budget",
    ),
    Mutant(
        "parts answer one after the other",
        "privacy/parts.py",
        "        with self._lock:",
        "        if True:",
        DOOR,
        "last_part",
    ),
    Mutant(
        "the door looks at a query's numbers",
        "privacy/query.py",
        "    if wrong:",
        "    if False:",
        DOOR,
        "bad_query or hold_a_nan",
    ),
    Mutant(
        "a total within what its records can add",
        "privacy/query.py",
        "    if not right or not bool(((total <= most) & (total >= -most)).all()):",
        "    if False:",
        DOOR,
        "beyond_what",
    ),
    Mutant(
        "an id is compared as its own value",
        "engines/ids.py",
        "    return value\n\n\ndef _finite",
        "    return float(value) if isinstance(value, int) else str(value)\n\n\ndef _finite",
        READING,
        "merge_only",
    ),
    Mutant(
        "a word that one unit alone holds stays below the threshold",
        "privacy/discovery.py",
        "    return NAME_WEIGHT + 1 + math.ceil(0.5 - scale * float(ndtri(min(each, 0.5))))\n",
        "    return math.ceil(0.5 - scale * float(ndtri(min(each, 0.5))))\n",
        "tests/privacy/test_discovery.py",
        "hides_what_one_unit_holds",
    ),
    Mutant(
        "the delta of a threshold is charged",
        "privacy/curator.py",
        "            threshold, cost = least / NAME_WEIGHT, cost + hiding\n",
        "            threshold = least / NAME_WEIGHT\n",
        "tests/privacy/test_discovery.py",
        "hides_what_one_unit_holds",
    ),
    Mutant(
        "the delta of a threshold is kept back before noise is calibrated",
        "privacy/budget.py",
        "        return self.law.whole(epsilon, self.delta * (1 - RESERVE) * (1 - self.hiding))\n",
        "        return self.law.whole(epsilon, self.delta * (1 - RESERVE))\n",
        "tests/privacy/test_discovery.py",
        "referee_agrees_with_the_whole",
    ),
    Mutant(
        "a user adds no more words than count, over all of his records",
        "queries/words.py",
        "    return np.sort(order[rank < most])\n",
        "    return np.sort(order)\n",
        "tests/engines/test_words.py",
        "takes_at_most_his_words",
    ),
    Mutant(
        "a sparse row is no longer than one",
        "compiled/sparse.py",
        "            grid[n] = np.trunc(grid[n] * (unit * (1.0 - 2.0**-40) / np.sqrt(square)))\n",
        "            grid[n] = np.rint(grid[n] * (unit * (1.0 + 2.0**-10) / np.sqrt(square)))\n",
        "tests/contract/test_queries.py",
        "test_declared_sensitivity_is_tight and sparse",
    ),
    Mutant(
        "an encoder that looks at other texts is refused",
        "source/encoders.py",
        "    if not apart <= _ROUNDING:\n",
        "    if False:\n",
        "tests/cluster/test_topics.py",
        "encoders_act_on_each_text_alone",
    ),
    Mutant(
        "a row without an id never counts",
        "engines/users.py",
        "        admitted = code > 0\n",
        "        admitted = code >= 0\n",
        "tests/contract/test_engines.py",
        "without_an_id",
    ),
    Mutant(
        "which rows of a user count does not depend on an order",
        "engines/users.py",
        "        order = np.lexsort((second, first, code))\n",
        "        order = np.argsort(code, kind='stable')\n",
        "tests/contract/test_engines.py",
        "same_rows_of_a_user",
    ),
    Mutant(
        "of a user's equal rows, no more count than the cap",
        "engines/users.py",
        "        return before + rank < self._chosen._ties[who]\n",
        "        return before + rank >= 0\n",
        "tests/contract/test_engines.py",
        "same_rows_of_a_user",
    ),
    Mutant(
        "a pass over other rows than the first is refused",
        "engines/stream.py",
        "        if seen != self._first or seen.rows != self._count:\n",
        "        if False:\n",
        "tests/engines/test_streams.py",
        "changes",
    ),
    Mutant(
        "a cluster that meets other rows is refused",
        "engines/cluster.py",
        "        if partial.seen != self._first:\n",
        "        if False:\n",
        "tests/engines/test_dask.py",
        "differ_each_time",
    ),
    Mutant(
        "workers refuse a query from another version",
        "engines/task.py",
        "    if theirs != VERSION:\n",
        "    if False:\n",
        "tests/engines/test_dask.py",
        "another_version",
    ),
    Mutant(
        "errors of other libraries are not repeated",
        "engines/stream.py",
        """        kind = f"{type(error).__module__.partition('.')[0]}: {type(error).__name__}"\n""",
        """        kind = f"{error}"\n""",
        "tests/engines/test_streams.py",
        "not_repeated",
    ),
    Mutant(
        "errors hold no password of a URI",
        "privacy/errors.py",
        "masked(each) if isinstance(each, str) else each for each in said",
        "each for each in said",
        "tests/privacy/test_masked.py",
    ),
    Mutant(
        "the command that a report shows holds no password",
        "cli/typed.py",
        """{'...@' if at else ''}{place}")""",
        """{rest}")""",
        "tests/privacy/test_masked.py",
    ),
    Mutant(
        "Connect's plans of chance are refused",
        "engines/spark.py",
        "        same = not _CHANCE.search(safely(WHAT, lambda: frame._explain_string(extended=True)))\n",
        "        same = True\n",
        "tests/engines/test_spark.py",
        "plans_of_chance",
    ),
    Mutant(
        "lists are taken apart before they become an array",
        "source/users.py",
        "    if isinstance(X, list | tuple):\n        try:",
        "    if False:\n        try:",
        READING,
        "cannot_change_the_type",
    ),
    Mutant(
        "a file ends outside quotes",
        "engines/csv.py",
        "        elif self._inside:\n",
        "        elif False:\n",
        FILES,
        "quote",
    ),
    Mutant(
        "quotes stand at the ends of fields",
        "engines/csv.py",
        "        if before.size and not np.isin(before, self._around).all():",
        "        if False:",
        FILES,
        "quote",
    ),
    Mutant(
        "every file is cast by itself",
        "engines/files.py",
        "                if len(seen) > 1:",
        "                if False:",
        FILES,
        "disagree",
    ),
    Mutant(
        "a file is read once, whatever links lead to it",
        "engines/listing.py",
        "            found.setdefault((about.st_dev, about.st_ino), file)",
        "            found[about.st_dev, len(found)] = file",
        FILES,
        "read_once",
    ),
    Mutant(
        "a file stays as it is between passes",
        "engines/reading.py",
        "    if stamp_of(file) != stamp:",
        "    if False:",
        FILES,
        "changes_between",
    ),
    Mutant("dates are no numbers", "engines/decode.py", "    if dates:\n", "    if False:\n", FILES, "dates_and"),
    Mutant(
        "a record is not taken for column names",
        "engines/files.py",
        "nameless = self._untyped and any(map(is_value, first.names))",
        "nameless = self._untyped and all(map(is_value, first.names))",
        FILES,
        "not_taken_for_names",
    ),
    Mutant(
        "a number with two meanings is refused",
        "engines/notation.py",
        "        if points and self.semicolons:\n",
        "        if False:\n",
        "tests/engines/test_notation.py",
        "one_number_or",
    ),
    Mutant(
        "no encoding in which a record can swallow others",
        "engines/encodings.py",
        '    if name not in _KNOWN and name != "utf-8-sig":',
        "    if not name:",
        "tests/engines/test_kinds_in_files.py",
        "not_declared",
    ),
    Mutant(
        "a file does not end in half a character",
        "engines/encodings.py",
        "self._decoder.decode(piece, not piece)",
        "self._decoder.decode(piece, False)",
        "tests/engines/test_kinds_in_files.py",
        "not_declared",
    ),
    Mutant(
        "a column's own rule for missing values is kept",
        "engines/engine.py",
        "known = np.array(rules or [missing] * n_columns)",
        "known = np.array([missing] * n_columns)",
        "tests/columns/test_columns.py",
        "missing_values_by_column",
    ),
    Mutant(
        "a stranger's columns are checked field by field",
        "columns/plain.py",
        "        if type(value) not in known[field] or",
        "        if",
        "tests/columns/test_columns.py",
        "hostile_documents",
    ),
    Mutant(
        "a level that is not declared is other, never missing or new",
        "columns/levels.py",
        "        codes = self._codes(column, float(self.other))",
        "        codes = self._codes(column, float('nan'))",
        "tests/columns/test_kinds.py",
        "other_and_missing",
    ),
    Mutant(
        "a null record is no reason to refuse",
        "engines/engine.py",
        "(self.nulls and bool(np.isnan(rows).all()))",
        "False",
        FILES,
        "null_record",
    ),
    Mutant(
        "a fit publishes all or nothing",
        "estimator/fit.py",
        "        draft = unfitted(self)\n",
        "        draft = self\n",
        FILES,
        "leaves_the_model",
    ),
    Mutant(
        "data under a second name is recognised",
        "estimator/opening.py",
        "    if isinstance(ledger, FileLedger):",
        "    if False:",
        FILES,
        "second_budget",
    ),
    Mutant(
        "a record is one line",
        "engines/csv.py",
        "        if not self._line_breaks:\n",
        "        if False:\n",
        FILES,
        "two_open_quotes or judged_by_itself",
    ),
    Mutant(
        "what repeats without a release is compared",
        "audit/runs.py",
        "leaks=_without_a_door(mechanism, here, there, pair, closely, shown)",
        "leaks=()",
        STATE,
        "without_a_release",
    ),
    Mutant(
        "a vote in every column of a cell's histograms counts",
        "queries/cell_histograms.py",
        "        return COUNT_WEIGHT * float(self.shape[1]) ** (1 / norm)",
        "        return COUNT_WEIGHT",
        QUERIES,
        "histograms and sensitivity",
    ),
    Mutant(
        "votes of a cell's histograms that move",
        "queries/cell_histograms.py",
        "        votes = 2.0 if self.shape[0] * self.shape[2] > 1 else 1.0",
        "        votes = 1.0",
        QUERIES,
        "histograms and sensitivity",
    ),
    Mutant(
        "a part of a grant spends no more than its giver has",
        "privacy/grant.py",
        "            if share > giver.left + ROUNDING:",
        "            if False:",
        "tests/privacy/test_grant.py",
    ),
]


def killed(mutant: Mutant, folder: Path) -> tuple[bool, float, str]:
    """Whether a test fails without the protection, after how long, and which."""
    source = folder / "src"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    file = source / "knoll" / mutant.file
    text = file.read_text()
    if text.count(mutant.code) != 1:
        raise SystemExit(f"{mutant.protection}: {mutant.file} holds its code {text.count(mutant.code)} times, not once")
    file.write_text(text.replace(mutant.code, mutant.without))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests.split()]
    command += ["-k", mutant.only] if mutant.only else []
    started = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(source)}, timeout=600
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant.protection}: the tests could not run\n{done.stdout[-3000:]}")
    failed = [line.split(" - ")[0].removeprefix("FAILED ") for line in done.stdout.splitlines() if line[:6] == "FAILED"]
    return done.returncode == 1, time.monotonic() - started, failed[0] if failed else "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="protections whose name holds this")
    chosen = parser.parse_args().only
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for mutant in MUTANTS:
            if chosen not in mutant.protection:
                continue
            noticed, seconds, test = killed(mutant, Path(folder))
            print(f"{'noticed' if noticed else 'SURVIVES'}: {mutant.protection} ({seconds:.0f} s)", flush=True)
            rows.append(
                {
                    "without": mutant.protection, "in": f"`{mutant.file}`", "noticed": "yes" if noticed else "NO",
                    "by": f"`{test.split('[')[0]}`",
                }
            )  # fmt: skip
    if not chosen:
        write("mutants", "make mutants", rows)
    if any(row["noticed"] == "NO" for row in rows):
        raise SystemExit("a protection can be removed without any test noticing")


if __name__ == "__main__":
    main()
