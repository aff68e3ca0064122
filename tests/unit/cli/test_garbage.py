"""Collections of a process of ours, and as they were before."""

import gc

from outlast.cli.garbage import collect_as_before, collect_rarely


def test_what_is_there_is_left_out_of_collections_until_the_end() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    thresholds = collect_rarely()
    try:
        assert gc.get_freeze_count() > frozen
        assert gc.get_threshold()[0] > before[0]
        assert gc.isenabled()
    finally:
        collect_as_before(thresholds)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
