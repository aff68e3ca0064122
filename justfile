# The only door to every routine of this repository. `just` lists what there is.

export PATH := justfile_directory() / ".venv/bin:" + env("PATH")

python := env("OUTLAST_PYTHON", "python3")

_list:
    @just --list --unsorted

# make or refresh .venv from the hashed locks
setup:
    {{ python }} -m venv .venv
    pip install -q --no-compile --require-hashes -r requirements-dev.lock
    pip install -q --no-deps --no-build-isolation -e .

# let the tools repair what they can
fix:
    ruff check --fix .
    ruff format .

# every gate but the tests
check:
    ruff check .
    ruff format --check .
    mypy
    lint-imports --no-logo

# every gate, then the tests, two files at a time (arguments go to pytest)
test *args: check
    pytest -n 2 --dist loadfile --no-loadscope-reorder {{ args }}

# one suite over every adapter of a seam
contract *args:
    pytest tests/contract {{ args }}

# kill workers at every step and see that the run goes on
crash *args:
    pytest tests/crash {{ args }}

# MCP servers of other people, got from npm and PyPI into .peers, and used
peers *args:
    pytest -m peers --timeout 600 tests/contract/peers {{ args }}

# minutes of random kills and faults
torture *args:
    pytest -m torture --timeout 1800 {{ args }}

# properties, with examples that nobody has tried yet
explore *args:
    pytest -n 2 --dist loadfile --hypothesis-profile explore -m hypothesis --timeout 1800 {{ args }}

# measure what durability costs, beside the bare floor (parts by name; see docs/reference/performance.md)
bench *parts:
    python -m bench {{ parts }}

# make the reference pages that come from the code
docs:
    python -m outlast.wiring.pages docs/reference
    python -m outlast.gateway.description docs/reference/openapi.json

# make the page that is shipped, and its types, from web/ and docs/reference/openapi.json
page:
    python -m tests.page.building

# write the golden journals that are not there yet
golden:
    python -m tests.golden

# rewrite the statuses in docs/laws.toml from the tests, and lower the ratchet
laws:
    python -m tests.architecture.laws

# make both lock files again, with hashes and without any address; what is installed is what was tested
lock:
    uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-header -q -o requirements-dev.lock
    uv pip compile pyproject.toml --group build --universal --generate-hashes --no-header -q -c requirements-dev.lock -o requirements.lock
