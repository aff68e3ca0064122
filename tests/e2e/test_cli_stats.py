"""What the command line says of figures and of calls that failed."""

from tests.e2e.command_line import Home


def test_that_no_call_failed_is_said(talking: Home) -> None:
    talking.write("script.yaml", "- {say: Hello}\n")
    assert talking.outlast("run", "--task", "talk", "--input", "hello").code == 0
    none = talking.here("stats", "--failed", "--tool", "web_search")
    assert (none.code, none.out, none.err) == (0, "", "No such calls failed in this time.\n")
    quiet = talking.here("stats", "--failed", "--json")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert talking.here("stats", "--tool", "nothing").out == "No run called the tool nothing.\n"
