"""The rows of the table: what was measured, and what it was to be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `unit` `x` marks a ratio. With a bound the figure is judged; without one it is only told."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Does the figure keep its bound? None when it has none."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least

    def as_text(self) -> str:
        """The row as one line of the table."""
        bound = ""
        if self.at_most is not None:
            bound = f"at most {shown(self.at_most)}"
        elif self.at_least is not None:
            bound = f"at least {shown(self.at_least)}"
        verdict = {True: "ok", False: "MISSED", None: ""}[self.is_met]
        return f"  {self.name:<58} {shown(self.value):>9} {self.unit:<9} {bound:<17} {verdict}".rstrip()


def shown(value: float) -> str:
    """A figure with as many digits as mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
