"""What is made of a value once, however often it is asked for."""

from outlast.domain.by_identity import by_identity


def test_what_is_made_of_one_value_is_made_once_and_of_an_equal_one_anew() -> None:
    made: list[list[int]] = []

    def make(value: list[int]) -> int:
        made.append(value)
        return sum(value)

    total, one, other = by_identity(make, 10), [1, 2], [1, 2]
    assert [total(one), total(one), total(other), total(one)] == [3, 3, 3, 3]
    assert [id(value) for value in made] == [id(one), id(other)]


def test_what_is_asked_for_again_is_kept_and_what_is_not_is_dropped_in_time() -> None:
    made: list[str] = []
    named = by_identity(lambda value: made.append(value[0]) or value[0], 3)
    kept = ["kept"]
    for number in range(100):
        assert named(kept) == "kept"
        assert named([str(number)]) == str(number)
    assert made.count("kept") == 1
    held = [cell.cell_contents for cell in named.__closure__ or () if isinstance(cell.cell_contents, dict)]
    assert [len(one) <= 3 for one in held] == [True, True]
