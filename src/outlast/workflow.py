"""What a workflow is written with: `from outlast.workflow import RunState, State, converse, enter, open_branch`."""

from outlast.domain.commands import CallModel, CallTool, Command, ComposeReport, Record, RunHook
from outlast.domain.plan import Progress, Subtask
from outlast.domain.run import MAIN_BRANCH, Answer, Branch, Question, RunState, SubtaskState
from outlast.domain.states import State
from outlast.runs.converse import converse, correct, failure_of, has_failed
from outlast.runs.decide import Workflow, is_busy
from outlast.runs.moves import ask_person, enter, fail, open_branch, set_value, tell

__all__ = [
    "MAIN_BRANCH",
    "Answer",
    "Branch",
    "CallModel",
    "CallTool",
    "Command",
    "ComposeReport",
    "Progress",
    "Question",
    "Record",
    "RunHook",
    "RunState",
    "State",
    "Subtask",
    "SubtaskState",
    "Workflow",
    "ask_person",
    "converse",
    "correct",
    "enter",
    "fail",
    "failure_of",
    "has_failed",
    "is_busy",
    "open_branch",
    "set_value",
    "tell",
]
