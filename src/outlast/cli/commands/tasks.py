"""Look after background tasks: list, show, cancel, answer, or send a notification again."""

from __future__ import annotations

from typing import Annotated, Any, Final

from cyclopts import App, Parameter

from outlast.cli.edits import object_in
from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted
from outlast.cli.presence import live_workers
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.domain.errors import CallerMistake, NotFound
from outlast.domain.ids import LOCAL_USER
from outlast.ports.background_driver import Answer
from outlast.ports.store import Store
from outlast.service.background import verbs
from outlast.wiring.engine import Engine
from outlast.wiring.schemas import problems_in
from outlast.wiring.settings.load import load

app = App(name="tasks", help="Look after background tasks.")

_MEANS: Final = {
    "lost": "Its server does not know it any more; nobody knows what it came to.",
    "moved": "It was moved to another store, where it is followed and told; `outlast import` of the file takes it up.",
    "unknown_outcome": "Nobody knows whether it was begun. It is not begun again by itself: look at its server first.",
}

TaskId = Annotated[str, Parameter(help="Id or name of the task.")]
ThreadId = Annotated[str | None, Parameter(name="--thread", help="Only in the thread with this id.")]


@app.command(name="list")
def list_(
    *,
    thread: ThreadId = None,
    status: Annotated[
        str | None, Parameter(help="A status such as working or completed; or open, or dead_letter.")
    ] = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """List the background tasks, newest first, and say what needs a person."""

    async def read(store: Store) -> dict[str, Any]:
        tasks = await verbs.list_tasks(store, LOCAL_USER, thread_id=thread, status=status)
        return {"tasks": tasks, **await verbs.count_troubles(store, LOCAL_USER)}

    try:
        found = with_store(config, read)
    except NotFound as nothing:
        note(str(nothing))
        found = {"tasks": [], "dead_letters": 0, "degraded": 0}
    if json:
        document(found)
        return Exit.DONE
    if found["tasks"]:
        rows = [
            (one["id"], one["status"], one["tracking"], one["updated_at"][:16].replace("T", " "), one["name"])
            for one in found["tasks"]
        ]
        out("\n".join(aligned(rows, ("TASK", "STATUS", "TRACKING", "CHANGED", "NAME"))))
    else:
        note("No background tasks.")
    if found["dead_letters"]:
        many = counted(found["dead_letters"], "notification")
        note(f"{many} could not be delivered: outlast tasks list --status dead_letter, then redrive.")
    if found["degraded"]:
        note(f"{counted(found['degraded'], 'task')} cannot be followed now.")
    return Exit.DONE


@app.command
def show(task: TaskId, /, *, thread: ThreadId = None, config: Config = None, json: AsJson = False) -> int:
    """Show a background task: how it stands, what it came to or asks, and whether its thread was told."""
    shown = with_store(config, lambda store: verbs.show_task(store, LOCAL_USER, task, thread))
    if json:
        document(shown)
    else:
        _print(shown)
    return Exit.DONE


@app.command
def cancel(task: TaskId, /, *, thread: ThreadId = None, config: Config = None, json: AsJson = False) -> int:
    """Ask that a background task be cancelled. A worker carries it out; the task may still end otherwise."""

    async def act(store: Store) -> dict[str, Any]:
        drivers = Engine(load(config), store=store).drivers
        return await verbs.cancel_task(store, LOCAL_USER, task, thread, drivers)

    return _done(config, act, "asked to end", as_json=json)


@app.command
def answer(
    task: TaskId,
    text: Annotated[
        str, Parameter(allow_leading_hyphen=True, help="The answer, where it asks for one thing.")
    ] = "",
    /,
    *,
    fields: Annotated[
        str | None, Parameter(name="--fields", help="The fields of the form, as a JSON object.")
    ] = None,
    decline: Annotated[bool, Parameter(help="Decline to answer.")] = False,
    question: Annotated[str | None, Parameter(help="Which question, where it asks several.")] = None,
    thread: ThreadId = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Answer what a background task asks, in words or with --fields. A worker hands it on."""
    given = _given(text, fields, decline=decline)

    async def act(store: Store) -> dict[str, Any]:
        return await verbs.answer_task(
            store, LOCAL_USER, task, given, problems_in, question=question, thread_id=thread
        )

    return _done(config, act, "answered", as_json=json)


@app.command
def redrive(task: TaskId, /, *, thread: ThreadId = None, config: Config = None, json: AsJson = False) -> int:
    """Send the notification of a background task again that could not be delivered."""

    async def act(store: Store) -> dict[str, Any]:
        return await verbs.redrive_task(store, LOCAL_USER, task, thread)

    return _done(config, act, "its thread will be told again", as_json=json)


def _given(text: str, fields: str | None, *, decline: bool) -> Answer | str:
    """What the person answers. Raises CallerMistake (`usage`) unless it is one thing."""
    if sum((bool(text), fields is not None, decline)) != 1:
        raise CallerMistake(
            "usage", "Answer with a text, with --fields, or with --decline.", "Give one of them."
        )
    if decline:
        return Answer("decline")
    if fields is None:
        return text
    return Answer("accept", object_in(fields, "--fields", "usage", 'Write {"name": value}.'))


def _done(config: str | None, act: Any, said: str, *, as_json: bool) -> int:
    """Do `act`, tell that it was `said`, and whether a worker is there to carry it out."""

    async def acted(store: Store) -> tuple[dict[str, Any], bool]:
        return await act(store), bool(await live_workers(store))

    shown, is_followed = with_store(config, acted)
    if as_json:
        document(shown)
    note(f"{shown['name']} ({shown['id']}): {said}.")
    if not is_followed:
        note("No worker is there to carry it out: start `outlast worker` or `outlast serve`.")
    return Exit.DONE


def _print(shown: dict[str, Any]) -> None:
    out(f"{shown['name']}  {shown['id']}  {shown['status']}")
    if shown["tracking"] != "ok":
        out(f"tracking: {shown['tracking']}")
    out(f"began {shown['created_at'][:16]}, changed {shown['updated_at'][:16]}")
    if shown["status"] in _MEANS:
        out(_MEANS[shown["status"]])
    if shown["message"]:
        out(f"says: {shown['message']}")
    if shown["error"]:
        out(f"error: {shown['error']['code']}: {shown['error']['detail']}")
    for question in shown["questions"]:
        fields = ", ".join(question["schema"].get("properties", {}))
        out(f"asks ({question['key']}): {question['message']}" + (f" [{fields}]" if fields else ""))
        if question["url"]:
            out(f"  open: {question['url']}")
    if shown["result"]:
        out(f"\n{shown['result']['preview']}")
    told = shown["notification"]
    note(f"notification: {told['state']}" + (f" by {told['run_id']}" if told["run_id"] else ""))
    if shown["actions"]:
        note("next: " + "; ".join(f"outlast tasks {action} {shown['id']}" for action in shown["actions"]))
