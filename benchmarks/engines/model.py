"""What a fit of a larger table would cost on a cluster, from what one pass was measured to cost on this machine.

    a pass = fixed + task * tasks + row * rows / cores

Tasks are one for every ten million rows, or one for each core if that is more. Rows come from files in every pass. What
a row and a task cost is processor time, of all processes together; a task's is taken to be spent by the scheduler, one
after the other, which is more than it is. What the model does not know: storage or a network that gives less than a
core reads here, tasks that are slow or fail.
"""

from dataclasses import dataclass

ROWS_OF_A_TASK = 10**7
SIZES = [(10**9, 10), (10**10, 100), (10**11, 1000), (10**12, 1000)]


@dataclass(frozen=True)
class Costs:
    """Seconds that a cluster takes.

    Attributes
    ----------
    engine : str
        Which.
    passes : int
        Passes of a fit, the first look among them.
    row : float
        Of processor time, for a row of 8 columns in a pass, read from files.
    task : float
        Of processor time, for a task of a pass.
    fixed : float
        For a pass, whatever it reads.
    """

    engine: str
    passes: int
    row: float
    task: float
    fixed: float

    def a_pass(self, rows: float, cores: int) -> float:
        """Return the seconds of a pass."""
        tasks = max(cores, rows / ROWS_OF_A_TASK)
        return self.fixed + self.task * tasks + self.row * rows / cores

    def row_of_table(self) -> dict:
        """Return what was measured, in words."""
        return {
            "engine": self.engine,
            "passes of a fit": self.passes,
            "core seconds for a million rows": f"{self.row * 1e6:.2f}",
            "MB that a core reads in a second": f"{64 / self.row / 1e6:.0f}" if self.row else "-",
            "a task, milliseconds": f"{self.task * 1e3:.0f}",
            "a pass of nothing, seconds": f"{self.fixed:.2f}",
        }


def table_of(costs: list[Costs]) -> list[dict]:
    """Return the table of the model: minutes of a fit, for each size of table."""
    table = []
    for rows, cores in SIZES:
        row: dict = {"rows": f"{rows:.0e}".replace("e+", "e"), "cores": cores}
        for each in costs:
            seconds = each.a_pass(rows, cores)
            row[f"{each.engine}, a pass, seconds"] = f"{seconds:.0f}"
            row[f"{each.engine}, a fit, minutes"] = f"{each.passes * seconds / 60:.0f}"
        table.append(row)
    return table
