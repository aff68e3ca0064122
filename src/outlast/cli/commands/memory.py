"""See what is remembered of you, and forget it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from outlast.cli.asking import confirmed
from outlast.cli.exits import Exit
from outlast.cli.opening import with_memory
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted
from outlast.cli.printing import document, note, out
from outlast.cli.tables import aligned
from outlast.domain.ages import age_in
from outlast.domain.errors import CallerMistake, NotFound
from outlast.domain.ids import LOCAL_USER
from outlast.service.memory import (
    Choice,
    archive_memory,
    forget_memory,
    list_memory,
    memory_stats,
    search_memory,
)

app = App(name="memory", help="See what is remembered of you, and forget it.")

Kind = Annotated[str | None, Parameter(help="Only page, fact, conclusion or note.")]
Source = Annotated[str | None, Parameter(help="Only what was read at this address.")]
Thread = Annotated[str | None, Parameter(name="--thread", help="Only what comes from this thread.")]
Run = Annotated[str | None, Parameter(name="--run", help="Only what comes from this run.")]
Limit = Annotated[int, Parameter(help="At most so many.", validator=Number(gte=1, lte=1000))]


@app.command
def search(
    query: Annotated[str, Parameter(allow_leading_hyphen=True, help="What to look for.")],
    /,
    *,
    limit: Limit = 8,
    thread: Annotated[str | None, Parameter(name="--thread", help="As if asked in this thread.")] = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Show what a run would be reminded of by a query, best first; what is outdated comes last."""
    found = with_memory(
        config,
        lambda kept, at: search_memory(kept, LOCAL_USER, query, at, limit=limit, thread_id=thread),
    )
    return _listed(found, as_json=json)


@app.command(name="list")
def list_(
    *,
    kind: Kind = None,
    source: Source = None,
    thread: Thread = None,
    run: Run = None,
    archived: Annotated[bool, Parameter(help="Archived entries instead.")] = False,
    limit: Limit = 100,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """List what is remembered, newest first."""
    choice = Choice(kind=kind, source=source, thread_id=thread, run_id=run)
    try:
        found = with_memory(
            config,
            lambda kept, at: list_memory(kept.store, LOCAL_USER, choice, at, archived=archived, limit=limit),
        )
    except NotFound as nothing:
        note(str(nothing))
        found = []
    return _listed(found, as_json=json)


@app.command
def forget(
    *ids: Annotated[str, Parameter(help="Ids of entries.")],
    kind: Kind = None,
    source: Source = None,
    thread: Thread = None,
    run: Run = None,
    everything: Annotated[bool, Parameter(help="All that is remembered of you.")] = False,
    yes: Annotated[bool, Parameter(help="Do not ask.")] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Delete entries for good, by id or by what they have in common. It cannot be undone."""
    choice = Choice(ids=ids, kind=kind, source=source, thread_id=thread, run_id=run, is_everything=everything)
    if not ids and not yes:
        _ask()
    gone = with_memory(config, lambda kept, at: forget_memory(kept.store, LOCAL_USER, choice))
    if json:
        document({"forgotten": gone})
    else:
        note(f"Forgot {counted(gone, 'entry')}.")
    return Exit.DONE


@app.command
def archive(
    *ids: Annotated[str, Parameter(help="Ids of entries.")],
    kind: Kind = None,
    source: Source = None,
    thread: Thread = None,
    run: Run = None,
    outdated_for: Annotated[
        str | None, Parameter(help="What has been outdated for so long: 30d, 12h, 2w.")
    ] = None,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Keep entries and recall them no more. A worker archives by itself what memory.archive_after_days says."""
    age = age_in(outdated_for) if outdated_for is not None else None

    def chosen(at: Any) -> Choice:
        before = at - age if age is not None else None
        return Choice(ids=ids, kind=kind, source=source, thread_id=thread, run_id=run, ended_before=before)

    done = with_memory(config, lambda kept, at: archive_memory(kept.store, LOCAL_USER, chosen(at), at))
    if json:
        document({"archived": done})
    else:
        note(f"Archived {counted(done, 'entry')}.")
    return Exit.DONE


@app.command
def stats(*, config: Config = None, json: AsJson = False) -> int:
    """Count what is remembered, by kind, and what the present embedder has embedded of it."""
    told = with_memory(config, lambda kept, at: memory_stats(kept, LOCAL_USER))
    if json:
        document(told)
        return Exit.DONE
    out(f"{counted(told['entries'], 'entry')}, {told['outdated']:,} outdated, {told['archived']:,} archived")
    for kind, count in told["kinds"].items():
        out(f"  {kind:<11} {count:>8,}")
    others = {space: count for space, count in told["vectors"].items() if space != told["embedder"]}
    if told["embedder"] is None:
        out("embedder: none that can be asked; words alone decide")
    else:
        out(f"embedder: {told['embedder']}, {counted(told['embedded'], 'entry')} embedded")
    for space, count in others.items():
        out(f"  by another embedder, {space}: {count:,}; a worker embeds what can be recalled again")
    return Exit.DONE


def _listed(found: list[dict[str, Any]], *, as_json: bool) -> int:
    if as_json:
        document({"entries": found})
    elif found:
        rows = [(one["id"], one["kind"], one["known_at"][:10], _told(one)) for one in found]
        out("\n".join(aligned(rows, ("ENTRY", "KIND", "KNOWN", "TEXT"))))
    else:
        note("Nothing is remembered that fits.")
    return Exit.DONE


def _told(one: dict[str, Any]) -> str:
    where = f" ({one['source'] or one['title']})" if one["source"] or one["title"] else ""
    return f"{'' if one['holds'] else '[outdated] '}{one['text']}{where}"


def _ask() -> None:
    if not sys.stdin.isatty():
        raise CallerMistake(
            "not_confirmed",
            "Entries of memory would be deleted, and nobody is there to agree.",
            "Say --yes, or look first with `outlast memory list`.",
        )
    if not confirmed("Delete these entries of memory? It cannot be undone. [y/N] "):
        raise CallerMistake("not_confirmed", "Nothing was deleted.", "`outlast memory archive` keeps them.")
