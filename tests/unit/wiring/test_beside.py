"""What a configuration points to is opened before a run would have to."""

from pathlib import Path

from outlast.wiring.beside import look_beside
from outlast.wiring.settings.initialise import initialise


def found(folder: Path, **environ: str) -> list[str]:
    beside = look_beside(directory=folder, environ=environ)
    return [str(problem) for problem in sorted([*beside.broken, *beside.missing])]


def missing(folder: Path) -> list[str]:
    return [problem.key for problem in look_beside(directory=folder, environ={}).missing]


def configured(folder: Path, text: str) -> None:
    (folder / "outlast.yaml").write_text(text)


def task(folder: Path, text: str) -> None:
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "tasks" / "a.yaml").write_text(text)


def test_what_points_to_nothing_has_nothing_to_open(tmp_path: Path) -> None:
    assert found(tmp_path) == []
    configured(tmp_path, "llm: [")
    assert found(tmp_path) == []
    initialise(tmp_path / "new")
    assert found(tmp_path / "new") == []


def test_script_that_is_not_there_or_cannot_be_played_is_told_once_where_it_is_named(tmp_path: Path) -> None:
    configured(
        tmp_path, "llm:\n  provider: scripted\n  script: script.yaml\nroles: {planner: {model: big}}\n"
    )
    [line] = found(tmp_path)
    assert "outlast.yaml:3: llm.script: " in line
    assert "script.yaml" in line
    (tmp_path / "script.yaml").write_text("- {sya: hello}\n")
    [line] = found(tmp_path)
    assert "entry 1" in line
    assert line.endswith("Correct the entry.")
    (tmp_path / "script.yaml").write_text("- {say: hello}\n")
    assert found(tmp_path) == []


def test_scripts_of_roles_and_fallbacks_are_opened_too_and_recordings(tmp_path: Path) -> None:
    configured(
        tmp_path,
        "llm:\n  provider: offline\n  fallbacks:\n    - {provider: scripted, script: spare.yaml}\n"
        "roles:\n  planner: {provider: replay, script: calls.jsonl}\n",
    )
    lines = "\n".join(found(tmp_path))
    assert "spare.yaml" in lines
    assert "outlast.yaml:6: roles.planner.script: " in lines
    assert "calls.jsonl" in lines


def test_script_whose_variable_is_not_set_is_left_to_who_tells_of_variables(tmp_path: Path) -> None:
    configured(tmp_path, "llm: {provider: scripted, script: '${SCRIPT}'}\n")
    assert found(tmp_path) == []
    assert len(found(tmp_path, SCRIPT="none.yaml")) == 1


def test_folder_to_search_that_is_missing_or_empty_is_told_where_one_was_named(tmp_path: Path) -> None:
    configured(tmp_path, "search:\n  provider: corpus\n  path: ./papers\n")
    [line] = found(tmp_path)
    assert "outlast.yaml:3: search.path: " in line
    assert "is no folder" in line
    (tmp_path / "papers").mkdir()
    [line] = found(tmp_path)
    assert "holds no file" in line
    assert "Put documents in it" in line
    (tmp_path / "papers" / "a.md").write_text("# A")
    assert found(tmp_path) == []
    configured(tmp_path, "llm: {provider: offline}\n")
    (tmp_path / "papers" / "a.md").unlink()
    assert found(tmp_path) == []


def test_tools_that_cannot_be_found_are_told(tmp_path: Path) -> None:
    configured(tmp_path, "tools:\n  paths: [./mine]\n")
    [line] = found(tmp_path)
    assert "outlast.yaml:2: tools.paths: " in line
    assert "which is not there. Correct the path." in line


def test_workflows_and_hooks_are_loaded_as_a_run_would_load_them(tmp_path: Path) -> None:
    task(
        tmp_path,
        "task:\n  name: a\n  workflow: mine:decide\n  hooks:\n    on_enter_REVIEWING: guards:check\n"
        "    before_tool: guards:absent\n    EXECUTING->COMPLETED: human_approval\n",
    )
    workflow, *hooks = found(tmp_path)
    assert "a.yaml:3: task.workflow: The workflow mine:decide is not there" in workflow
    assert [line.partition("a.yaml:")[2].partition(" ")[0] for line in hooks] == ["5:", "6:"]
    (tmp_path / "tasks" / "mine.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "tasks" / "guards.py").write_text("def check(ctx):\n    return None\n")
    workflow, hook = found(tmp_path)
    assert "cannot be loaded: ModuleNotFoundError" in workflow
    assert workflow.endswith("Mend the module.")
    assert "a.yaml:6: task.hooks.before_tool: " in hook
    assert "defines no function absent" in hook
    (tmp_path / "tasks" / "mine.py").write_text("def decide(state, now):\n    return []\n# mended\n")
    (tmp_path / "tasks" / "guards.py").write_text("def check(ctx): ...\nabsent = check\n# mended\n")
    assert found(tmp_path) == []


def test_what_is_not_there_is_told_apart_from_what_is_broken(tmp_path: Path) -> None:
    configured(
        tmp_path,
        "llm: {provider: scripted, script: script.yaml}\nsearch: {provider: corpus, path: ./papers}\ntools: {paths: [./mine]}\n",
    )
    task(
        tmp_path,
        "task:\n  name: a\n  workflow: own.flow:decide\n  hooks: {on_enter_REVIEWING: guards:check}\n",
    )
    named = ["llm.script", "search.path", "tools.paths", "task.hooks.on_enter_REVIEWING", "task.workflow"]
    assert sorted(missing(tmp_path)) == sorted(named)
    (tmp_path / "script.yaml").write_text("- {sya: hello}\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "tasks" / "own.py").write_text("")
    (tmp_path / "tasks" / "guards.py").write_text("")
    assert missing(tmp_path) == ["search.path"]
    broken = look_beside(directory=tmp_path, environ={}).broken
    assert sorted(problem.key for problem in broken) == sorted({*named} - {"search.path", "tools.paths"})
