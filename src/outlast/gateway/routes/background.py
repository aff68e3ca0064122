"""Background tasks: seen, cancelled and answered in their conversation; dead letters seen and sent again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from outlast.domain.errors import CallerMistake, NotFound
from outlast.domain.ids import is_safe_id
from outlast.gateway.access import Reader, Writer
from outlast.gateway.exact import ExactJSONResponse
from outlast.gateway.owned import ThreadToChange, ThreadToRead
from outlast.gateway.shapes.asked import TaskAnswer
from outlast.gateway.shapes.background import PublicTask, TaskDetail, TaskPage
from outlast.gateway.site import AtSite
from outlast.ports.background_driver import Answer
from outlast.service.background import verbs
from outlast.wiring.schemas import problems_in

router = APIRouter(prefix="/api", tags=["background tasks"])

TaskId = Annotated[str, Path(description="Id of a background task.")]
Status = Annotated[
    str | None, Query(description="A status such as `working` or `completed`; or `open`, or `dead_letter`.")
]
Limit = Annotated[int, Query(ge=1, le=500)]

_changing = partial(router.post, status_code=202, response_model=TaskDetail)


@router.get("/threads/{thread_id}/background-tasks", response_model=TaskPage)
async def list_(
    thread: ThreadToRead, site: AtSite, status: Status = None, limit: Limit = 100
) -> JSONResponse:
    """The background tasks of a conversation, newest first."""
    found = await verbs.list_tasks(
        site.store, thread.user_id, thread_id=thread.thread_id, status=status, limit=limit
    )
    return ExactJSONResponse({"background_tasks": found})


@router.get("/threads/{thread_id}/background-tasks/{task_id}", response_model=TaskDetail)
async def show(thread: ThreadToRead, task_id: TaskId, site: AtSite) -> JSONResponse:
    """A background task: what it came to or asks, and how far its conversation was told."""
    wanted = _checked(task_id)
    return ExactJSONResponse(await verbs.show_task(site.store, thread.user_id, wanted, thread.thread_id))


@_changing("/threads/{thread_id}/background-tasks/{task_id}/cancel")
async def cancel(thread: ThreadToChange, task_id: TaskId, site: AtSite) -> JSONResponse:
    """Ask that a background task be cancelled; it may still end otherwise."""
    wanted = _checked(task_id)
    drivers = site.engine.drivers
    done = await verbs.cancel_task(site.store, thread.user_id, wanted, thread.thread_id, drivers)
    return ExactJSONResponse(done, 202)


@_changing("/threads/{thread_id}/background-tasks/{task_id}/answer")
async def answer(thread: ThreadToChange, task_id: TaskId, site: AtSite, given: TaskAnswer) -> JSONResponse:
    """Answer what a background task asks; a worker hands it on."""
    done = await verbs.answer_task(
        site.store,
        thread.user_id,
        _checked(task_id),
        _answer(given),
        problems_in,
        question=given.key,
        thread_id=thread.thread_id,
    )
    return ExactJSONResponse(done, 202)


@router.get("/background-tasks", response_model=TaskPage)
async def list_all(caller: Reader, site: AtSite, status: Status = None, limit: Limit = 100) -> JSONResponse:
    """Your background tasks in all conversations; with `dead_letter`, those of everybody, which takes the scope `admin`."""
    if status == "dead_letter":
        caller.require("admin")
        dead = await verbs.list_dead_letters(site.store, limit)
        return ExactJSONResponse({"background_tasks": [_in_public(one) for one in dead]})
    found = await verbs.list_tasks(site.store, caller.user_id, status=status, limit=limit)
    return ExactJSONResponse({"background_tasks": found})


@router.post("/background-tasks/{task_id}/redrive", status_code=202, response_model=PublicTask)
async def redrive(task_id: TaskId, caller: Writer, site: AtSite) -> JSONResponse:
    """Tell a conversation again what could not be delivered: of yours, or, for an admin, of anybody's."""
    whose = None if "admin" in caller.scopes else caller.user_id
    done = await verbs.redrive_task(site.store, whose, _checked(task_id))
    return ExactJSONResponse(_in_public(done), 202)


def _in_public(task: Mapping[str, Any]) -> dict[str, Any]:
    return {name: task[name] for name in PublicTask.model_fields}


def _checked(task_id: str) -> str:
    """An id that may be one. Names are for people at a terminal, who are told what they may have meant."""
    if is_safe_id(task_id):
        return task_id
    detail = f"There is no background task {task_id[:80]!r}."
    raise NotFound("unknown_background_task", detail, "Name one by its id; the list has them.")


def _answer(given: TaskAnswer) -> Answer | str:
    """The answer in a request. Raises CallerMistake (`bad_answer`) for one that says two things."""
    is_declined = given.action == "decline"
    if given.text is not None and not given.content and not is_declined:
        return given.text
    if given.text is not None or (is_declined and given.content):
        detail = "An answer is fields, or words, or declined."
        raise CallerMistake("bad_answer", detail, "Send `content`, or `text`, or `action: decline`.")
    return Answer(given.action, given.content)
